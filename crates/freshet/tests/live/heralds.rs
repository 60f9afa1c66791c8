//! `freshet signals`: without a daemon by the store, and with one through it.

use crate::home::{FAST, Home, until};
use crate::site::Site;

const SITEMAP: &str = "https://example.com/sitemap.xml";

#[test]
fn signal_sources_come_and_go_without_a_daemon() {
    let home = Home::new("budget = \"100/day\"\n");
    home.run(&["signals"]).says(0, "freshet signals add https://example.com/sitemap.xml");
    assert_eq!(home.lines(&["signals", "--json"]).len(), 0);
    let more = ["--discover", "--include", "example.com/blog/", "--most", "500", "--tag", "blog"];
    let add = [&["signals", "add", SITEMAP], &more[..]].concat();
    home.run(&add).says(0, "added: signal source 0; it is read when the daemon runs");
    home.run(&["signals", "add", "https://example.com/feed", "--feed", "--max-interval", "1h"])
        .ok();
    home.run(&add).says(0, "described anew: signal source 0");

    let all = home.lines(&["signals", "--json"]);
    let of = |at: usize, name: &str| all[at][name].clone();
    assert_eq!((of(0, "kind"), of(0, "url")), ("sitemap".into(), SITEMAP.into()));
    assert_eq!((of(0, "rule")["most"].clone(), of(0, "found_in")), (500.into(), "given".into()));
    assert_eq!((of(1, "kind"), of(1, "max_interval").as_f64()), ("feed".into(), Some(3600.0)));
    assert!(of(0, "precision").is_null() && of(0, "last_read").is_null());
    let table = home.run(&["signals"]).ok();
    assert_eq!(table.out.lines().count(), 3, "{}", table.out);
    assert!(table.out.contains("not read yet") && table.err.contains("2 signal sources"));
    let shown = home.run(&["signals", "show", SITEMAP]).ok().out;
    for part in ["number 0, given by hand", "0 of at most 500 pages", "example.com/blog/"] {
        assert!(shown.contains(part), "no {part} in {shown}");
    }
    // What is read is no page.
    assert_eq!(home.lines(&["ls", "--json"]).len(), 0);

    home.run(&["signals", "rm", "0"]).says(0, "removed 1 signal source");
    home.run(&["signals", "rm", "https://example.com/feed"]).says(0, "removed 1 signal source");
    home.run(&["signals", "show", SITEMAP]).says(2, "there is no signal source");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let home = Home::new("budget = \"100/day\"\n");
    let add = |more: &[&str]| home.run(&[&["signals", "add"], more].concat());
    add(&["example"]).says(2, "example");
    add(&[SITEMAP, "--discover", "--include", "/no-host"]).says(2, "include");
    add(&[SITEMAP, "--include", "example.com/"]).says(2, "--discover");
    add(&[SITEMAP, "--feed", "--sitemap"]).says(2, "cannot be used with");
    add(&[SITEMAP, "--max-interval", "soon"]).says(2, "soon");
    assert_eq!(home.lines(&["signals", "--json"]).len(), 0);
}

#[test]
fn a_daemon_reads_what_is_added_and_says_what_is_wrong_with_it() {
    let (site, home) = (Site::start(), Home::new(FAST));
    let daemon = home.start();
    // A page for people stands where a sitemap should.
    site.set("/sitemap.xml", "welcome");
    let url = site.url("/sitemap.xml");
    home.run(&["signals", "add", &url]).says(0, "added: signal source 0");
    let show = || home.run(&["signals", "show", "0", "--json"]).json();
    until("it is read", || !show()["last_read"].is_null());
    let it = show();
    assert_eq!(
        (&it["last_read"]["outcome"], &it["last_read"]["format"]),
        (&"html".into(), &"html".into())
    );
    assert_eq!(it["last_read"]["defects"]["html"], 1);
    assert!(it["failures"].as_u64().unwrap() > 0);
    let shown = home.run(&["signals", "show", &url]).ok().out;
    assert!(shown.contains("html: It is a page for people, not a sitemap or feed."), "{shown}");
    assert!(home.run(&["signals"]).ok().out.contains(&url));
    home.run(&["signals", "rm", &url]).says(0, "removed 1 signal source");
    assert_eq!(home.lines(&["signals", "--json"]).len(), 0);
    assert_eq!(daemon.stop(), Some(0));
}
