//! A host that wants to be left alone is, by commands too, and they say so.

use freshet_store::{Batch, FetchRecord, NewChange, NewSource, Retention, Store, StoredOutcome};

use crate::home::{FAST, Home, until};
use crate::site::Site;

#[test]
fn a_look_keeps_to_what_the_host_said() {
    let site = Site::start();
    site.anger("/angry");
    site.set("/other", "text");
    let home = Home::new(FAST);
    let (angry, other) = (site.url("/angry"), site.url("/other"));
    let daemon = home.start();
    home.run(&["check", &angry]).says(1, "429");
    home.run(&["check", &other]).says(2, "is to be left alone until in ");
    assert_eq!(daemon.stop(), Some(0), "{}", home.log());
    // The same without a daemon, and with the next one.
    home.run(&["check", &other]).says(2, "is to be left alone until");
    let daemon = home.start();
    home.run(&["check", &other]).says(2, "hint: fetch it all the same with --force");
    assert_eq!(site.seen("/other"), 0);
    home.run(&["check", &other, "--force"]).ok();
    assert_eq!(daemon.stop(), Some(0), "{}", home.log());
    assert_eq!((site.seen("/angry"), site.seen("/other")), (1, 1));

    // Without a daemon from the beginning.
    let (home, site) = (Home::new(FAST), Site::start());
    site.anger("/angry");
    home.run(&["add", "http://127.0.0.1:9/"]).ok();
    home.run(&["check", &site.url("/angry")]).says(1, "429");
    home.run(&["check", &site.url("/angry")]).says(2, "is to be left alone until");
    assert_eq!(site.seen("/angry"), 1);
}

#[test]
fn ls_and_show_say_that_the_host_rests() {
    let site = Site::start();
    site.anger("/angry");
    site.set("/new", "text");
    let home = Home::new(FAST);
    let (angry, new) = (site.url("/angry"), site.url("/new"));
    home.run(&["add", &angry]).ok();
    let mut daemon = Some(home.start());
    until("it failed", || home.lines(&["ls", "--json"])[0]["failures"] == 1);
    home.run(&["add", &new]).ok();
    for running in [true, false] {
        let rows = home.lines(&["ls", "--json"]);
        assert_eq!(rows[0]["next"], rows[0]["host_rests_until"], "{rows:?}");
        assert!(rows[1]["host_rests_until"].is_string(), "{rows:?}");
        let listed = home.run(&["ls"]).ok().out;
        assert_eq!(listed.matches("(its host rests)").count(), 2, "{listed}");
        let shown = home.run(&["show", &new]).ok().out;
        assert!(shown.contains("its host is to be left alone until then (in "), "{shown}");
        assert_eq!(home.run(&["show", &new, "--json"]).json()["running"], running);
        if let Some(daemon) = daemon.take() {
            assert_eq!(daemon.stop(), Some(0), "{}", home.log());
        }
    }
    assert_eq!(site.seen("/new"), 0);
}

#[test]
fn whoever_asks_for_changes_that_are_not_kept_is_told() {
    const DAY: i64 = 86_400_000;
    let home = Home::new("[keep]\nchanges = 30\n");
    let mut store = Store::open(&home.path("freshet.db"), 0).unwrap();
    store.add_sources(&[NewSource::new("https://example.com/", "example.com", 0)]).unwrap();
    for day in 0..10 {
        let change = NewChange {
            last_unchanged_at: None,
            first_changed_at: day * DAY,
            old_digest: None,
            new_digest: [1; 16],
            old_size: None,
            new_size: 1,
            similarity: 0.5,
            summary: format!("day {day}"),
        };
        let mut fetch = FetchRecord::new(0, day * DAY, StoredOutcome::Changed);
        fetch.change = Some(change);
        store.record_batch(&Batch { fetches: vec![fetch], ..Batch::default() }).unwrap();
    }
    store.set_retention(Retention { change_days: 4.5, ..Retention::default() });
    store.prune(9 * DAY).unwrap();
    drop(store);
    home.run(&["changes", "--after", "2", "--json"])
        .says(2, "changes 3 to 5 are not kept any more\n\nhint: go on with --after 5");
    assert_eq!(home.lines(&["changes", "--after", "5", "--json"]).len(), 5);
    assert_eq!(home.lines(&["changes", "--after", "0", "--json"]).len(), 5);
    assert_eq!(home.lines(&["changes", "--json"]).len(), 5);
}
