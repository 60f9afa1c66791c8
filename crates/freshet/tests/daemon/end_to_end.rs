//! The whole path from an empty directory to a detected change, and the shutdown.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::instance::{FAST, TestInstance, wait_until};
use crate::site::Site;

#[test]
fn a_change_is_detected_recorded_and_shown_by_all_commands() {
    let site = Site::start();
    site.set("/tea", "It costs 49.90 today.");
    let instance = TestInstance::new("");
    instance.run(&["init", "fresh.toml"]).ok();
    assert!(instance.read("fresh.toml").contains("budget = \"500/day\""));
    instance.run(&["init", "fresh.toml"]).has_error(2, "already exists");
    instance.run(&["init", "fresh.toml", "--force"]).ok();
    instance.configure(&format!("{FAST}[keep]\nobservations = 1000000\n"));
    instance.run(&["status"]).code.filter(|code| *code == 1).unwrap();
    let url = site.url("/tea");
    let added = instance.run(&["add", &url, "--importance", "5", "--tag", "shop"]).ok();
    assert_eq!(added.err, "added 1 source\n");

    let daemon = instance.start();
    let copied = || instance.lines(&["ls", "--json"])[0]["fetched"].is_string();
    wait_until("there is a copy", copied);
    let socket = instance.path("freshet.db.sock");
    assert_eq!(socket.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    site.set("/tea", "It costs 59.90 today.");
    // Either the daemon or this command finds the change; a fetch may have been in flight before it.
    wait_until("the change is found", || {
        instance.run(&["check", &url]).ok();
        !instance.lines(&["changes", "--json"]).is_empty()
    });
    instance.run(&["pause", &url]).ok();
    let changes = instance.lines(&["changes", "--json"]);
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0]["summary"], "1 changed: 49.90 → 59.90");
    assert_eq!(
        (&changes[0]["url"], &changes[0]["tags"][0]),
        (&url.as_str().into(), &"shop".into())
    );
    assert_eq!(changes[0]["importance"], 5.0);
    assert!(changes[0]["last_unchanged"].as_str() < changes[0]["first_changed"].as_str());
    let cursor = changes[0]["cursor"].to_string();
    assert!(instance.lines(&["changes", "--after", &cursor, "--json"]).is_empty());
    let diff = instance.run(&["diff", &url]).ok();
    assert!(diff.out.contains("-It costs 49.90 today.\n+It costs 59.90 today.\n"), "{}", diff.out);
    let words = instance.run(&["diff", &url, "1", "2", "--words"]).ok();
    assert!(words.out.contains("[-49.90-]{+59.90+}"), "{}", words.out);
    instance.run(&["diff", &url, "1", "9"]).has_error(2, "hint: versions in the store: 1, 2");

    let status = instance.run(&["status", "--json"]).json();
    assert_eq!((&status["running"], &status["sources"]), (&true.into(), &1.into()));
    assert_eq!(status["daemon"]["changes"], 1);
    assert!(status["daemon"]["freshness"].as_f64().unwrap() > 0.0);
    let shown = instance.run(&["show", &url, "--limit", "1000000", "--json"]).json();
    let history = shown["history"].as_array().unwrap();
    assert_eq!(history.iter().filter(|it| it["outcome"] == "changed").count(), 1, "{shown}");
    assert_eq!(shown["kept"].as_array().unwrap().len(), 2);
    let believed = &shown["believed"];
    let rate = |name: &str| believed[name].as_f64().unwrap();
    assert!(rate("changes_a_day_low") < rate("changes_a_day"));
    assert!(rate("changes_a_day") < rate("changes_a_day_high"));
    assert!(instance.run(&["show", &url]).ok().out.contains("on average; 95 % interval"));

    assert_eq!(daemon.stop(), Some(0), "{}", instance.log());
    assert!(!socket.exists());
    assert_eq!(instance.run(&["status"]).code, Some(1));
    assert_eq!(instance.lines(&["changes", "--json"]), changes);
    // Without the daemon, the estimates are the same.
    let later = instance.run(&["show", &url, "--json"]).json();
    for name in ["price", "changes_a_day"] {
        let ratio = later["believed"][name].as_f64().unwrap() / rate(name);
        assert!((0.9..1.1).contains(&ratio), "{name}: {ratio}");
    }
}

#[test]
fn changes_are_followed() {
    let site = Site::start();
    site.set("/a", "one");
    let instance = TestInstance::new(FAST);
    instance.run(&["add", &site.url("/a")]).ok();
    instance.run(&["check", &site.url("/a")]).ok();
    let mut following = instance.spawn(&["changes", "--follow", "--json"]);
    let mut lines = BufReader::new(following.child.stdout.take().unwrap()).lines();
    for text in ["two", "three"] {
        site.set("/a", text);
        instance.run(&["check", &site.url("/a")]).ok();
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert!(line["summary"].as_str().unwrap().ends_with(text), "{line}");
    }
    // When the reader has closed the pipe, the command ends at the next change.
    drop(lines);
    site.set("/a", "four");
    instance.run(&["check", &site.url("/a")]).ok();
    assert_eq!(following.child.wait().unwrap().code(), Some(0));
}
