//! `freshet signals`, with and without a daemon.

use crate::instance::{FAST, TestInstance, wait_until};
use crate::site::Site;

const SITEMAP: &str = "https://example.com/sitemap.xml";

#[test]
fn signal_sources_are_added_and_removed_without_a_daemon() {
    let instance = TestInstance::new("budget = \"100/day\"\n");
    instance.run(&["signals"]).has_error(0, "freshet signals add https://example.com/sitemap.xml");
    assert_eq!(instance.lines(&["signals", "--json"]).len(), 0);
    let more = ["--discover", "--include", "example.com/blog/", "--most", "500", "--tag", "blog"];
    let add = [&["signals", "add", SITEMAP], &more[..]].concat();
    instance.run(&add).has_error(0, "added signal source 0; it is read when the daemon runs");
    instance
        .run(&["signals", "add", "https://example.com/feed", "--feed", "--max-interval", "1h"])
        .ok();
    instance.run(&add).has_error(0, "updated signal source 0");

    let all = instance.lines(&["signals", "--json"]);
    let of = |at: usize, name: &str| all[at][name].clone();
    assert_eq!((of(0, "kind"), of(0, "url")), ("sitemap".into(), SITEMAP.into()));
    assert_eq!((of(0, "rule")["most"].clone(), of(0, "found_in")), (500.into(), "given".into()));
    assert_eq!((of(1, "kind"), of(1, "max_interval").as_f64()), ("feed".into(), Some(3600.0)));
    assert!(of(0, "precision").is_null() && of(0, "last_read").is_null());
    let table = instance.run(&["signals"]).ok();
    assert_eq!(table.out.lines().count(), 3, "{}", table.out);
    assert!(table.out.contains("not read yet") && table.err.contains("2 signal sources"));
    let shown = instance.run(&["signals", "show", SITEMAP]).ok().out;
    for part in ["number 0, added by hand", "0 of at most 500", "example.com/blog/"] {
        assert!(shown.contains(part), "no {part} in {shown}");
    }
    // A signal source is not listed as a source.
    assert_eq!(instance.lines(&["ls", "--json"]).len(), 0);

    instance.run(&["signals", "rm", "0"]).has_error(0, "removed 1 signal source");
    instance
        .run(&["signals", "rm", "https://example.com/feed"])
        .has_error(0, "removed 1 signal source");
    instance.run(&["signals", "show", SITEMAP]).has_error(2, "there is no signal source");
}

#[test]
fn invalid_arguments_are_rejected() {
    let instance = TestInstance::new("budget = \"100/day\"\n");
    let add = |more: &[&str]| instance.run(&[&["signals", "add"], more].concat());
    add(&["example"]).has_error(2, "example");
    add(&[SITEMAP, "--discover", "--include", "/no-host"]).has_error(2, "include");
    add(&[SITEMAP, "--include", "example.com/"]).has_error(2, "--discover");
    add(&[SITEMAP, "--feed", "--sitemap"]).has_error(2, "cannot be used with");
    add(&[SITEMAP, "--max-interval", "soon"]).has_error(2, "soon");
    assert_eq!(instance.lines(&["signals", "--json"]).len(), 0);
}

#[test]
fn the_daemon_reads_a_new_signal_source_and_reports_its_defects() {
    let (site, instance) = (Site::start(), TestInstance::new(FAST));
    let daemon = instance.start();
    // An HTML page is served instead of a sitemap.
    site.set("/sitemap.xml", "welcome");
    let url = site.url("/sitemap.xml");
    instance.run(&["signals", "add", &url]).has_error(0, "added signal source 0");
    let show = || instance.run(&["signals", "show", "0", "--json"]).json();
    wait_until("it is read", || !show()["last_read"].is_null());
    let it = show();
    assert_eq!(
        (&it["last_read"]["outcome"], &it["last_read"]["format"]),
        (&"html".into(), &"html".into())
    );
    assert_eq!(it["last_read"]["defects"]["html"], 1);
    assert!(it["failures"].as_u64().unwrap() > 0);
    let shown = instance.run(&["signals", "show", &url]).ok().out;
    assert!(
        shown.contains("html: The document is an HTML page, not a sitemap or feed."),
        "{shown}"
    );
    assert!(instance.run(&["signals"]).ok().out.contains(&url));
    instance.run(&["signals", "rm", &url]).has_error(0, "removed 1 signal source");
    assert_eq!(instance.lines(&["signals", "--json"]).len(), 0);
    assert_eq!(daemon.stop(), Some(0));
}
