//! Commands respect the cooldown of a host, and report it.

use freshet_store::{Batch, FetchRecord, NewChange, NewSource, Retention, Store, StoredOutcome};

use crate::instance::{FAST, TestInstance, wait_until};
use crate::site::Site;

#[test]
fn a_check_respects_the_cooldown_of_the_host() {
    let site = Site::start();
    site.rate_limit("/angry");
    site.set("/other", "text");
    let instance = TestInstance::new(FAST);
    let (angry, other) = (site.url("/angry"), site.url("/other"));
    let daemon = instance.start();
    instance.run(&["check", &angry]).has_error(1, "429");
    instance.run(&["check", &other]).has_error(2, "is in cooldown, which ends in ");
    assert_eq!(daemon.stop(), Some(0), "{}", instance.log());
    // The cooldown also applies without a daemon, and to the next daemon.
    instance.run(&["check", &other]).has_error(2, "is in cooldown, which ends");
    let daemon = instance.start();
    instance.run(&["check", &other]).has_error(2, "hint: fetch it anyway with --force");
    assert_eq!(site.requests("/other"), 0);
    instance.run(&["check", &other, "--force"]).ok();
    assert_eq!(daemon.stop(), Some(0), "{}", instance.log());
    assert_eq!((site.requests("/angry"), site.requests("/other")), (1, 1));

    // The cooldown is also recorded if no daemon has ever run.
    let (instance, site) = (TestInstance::new(FAST), Site::start());
    site.rate_limit("/angry");
    instance.run(&["add", "http://127.0.0.1:9/"]).ok();
    instance.run(&["check", &site.url("/angry")]).has_error(1, "429");
    instance.run(&["check", &site.url("/angry")]).has_error(2, "is in cooldown, which ends");
    assert_eq!(site.requests("/angry"), 1);
}

#[test]
fn ls_and_show_report_the_cooldown() {
    let site = Site::start();
    site.rate_limit("/angry");
    site.set("/new", "text");
    let instance = TestInstance::new(FAST);
    let (angry, new) = (site.url("/angry"), site.url("/new"));
    instance.run(&["add", &angry]).ok();
    let mut daemon = Some(instance.start());
    wait_until("it failed", || instance.lines(&["ls", "--json"])[0]["failures"] == 1);
    instance.run(&["add", &new]).ok();
    for running in [true, false] {
        let rows = instance.lines(&["ls", "--json"]);
        assert_eq!(rows[0]["next"], rows[0]["host_rests_until"], "{rows:?}");
        assert!(rows[1]["host_rests_until"].is_string(), "{rows:?}");
        let listed = instance.run(&["ls"]).ok().out;
        assert_eq!(listed.matches("(host in cooldown)").count(), 2, "{listed}");
        let shown = instance.run(&["show", &new]).ok().out;
        assert!(shown.contains("its host is in cooldown until then (in "), "{shown}");
        assert_eq!(instance.run(&["show", &new, "--json"]).json()["running"], running);
        if let Some(daemon) = daemon.take() {
            assert_eq!(daemon.stop(), Some(0), "{}", instance.log());
        }
    }
    assert_eq!(site.requests("/new"), 0);
}

#[test]
fn reading_from_a_pruned_cursor_is_an_error() {
    const DAY: i64 = 86_400_000;
    let instance = TestInstance::new("[keep]\nchanges = 30\n");
    let mut store = Store::open(&instance.path("freshet.db"), 0).unwrap();
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
    instance
        .run(&["changes", "--after", "2", "--json"])
        .has_error(2, "changes 3 to 5 have been pruned\n\nhint: continue with --after 5");
    assert_eq!(instance.lines(&["changes", "--after", "5", "--json"]).len(), 5);
    assert_eq!(instance.lines(&["changes", "--after", "0", "--json"]).len(), 5);
    assert_eq!(instance.lines(&["changes", "--json"]).len(), 5);
}
