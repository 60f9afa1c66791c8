//! From nothing to a change, and to the end.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::home::{FAST, Home, until};
use crate::site::Site;

#[test]
fn a_change_is_seen_from_the_first_command_to_the_last() {
    let site = Site::start();
    site.set("/tea", "It costs 49.90 today.");
    let home = Home::new("");
    home.run(&["init", "fresh.toml"]).ok();
    assert!(home.read("fresh.toml").contains("budget = \"500/day\""));
    home.run(&["init", "fresh.toml"]).says(2, "exists already");
    home.run(&["init", "fresh.toml", "--force"]).ok();
    home.configure(&format!("{FAST}[keep]\nobservations = 1000000\n"));
    home.run(&["status"]).code.filter(|code| *code == 1).unwrap();
    let url = site.url("/tea");
    let added = home.run(&["add", &url, "--importance", "5", "--tag", "shop"]).ok();
    assert_eq!(added.err, "added 1 source\n");

    let daemon = home.start();
    let copied = || home.lines(&["ls", "--json"])[0]["fetched"].is_string();
    until("there is a copy", copied);
    let socket = home.path("freshet.db.sock");
    assert_eq!(socket.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    site.set("/tea", "It costs 59.90 today.");
    // Whoever comes first, the daemon or this, finds it. A fetch may be under way since before.
    until("the change is found", || {
        home.run(&["check", &url]).ok();
        !home.lines(&["changes", "--json"]).is_empty()
    });
    home.run(&["pause", &url]).ok();
    let changes = home.lines(&["changes", "--json"]);
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0]["summary"], "1 changed: 49.90 → 59.90");
    assert_eq!(
        (&changes[0]["url"], &changes[0]["tags"][0]),
        (&url.as_str().into(), &"shop".into())
    );
    assert_eq!(changes[0]["importance"], 5.0);
    assert!(changes[0]["last_unchanged"].as_str() < changes[0]["first_changed"].as_str());
    let cursor = changes[0]["cursor"].to_string();
    assert!(home.lines(&["changes", "--after", &cursor, "--json"]).is_empty());
    let diff = home.run(&["diff", &url]).ok();
    assert!(diff.out.contains("-It costs 49.90 today.\n+It costs 59.90 today.\n"), "{}", diff.out);
    let words = home.run(&["diff", &url, "1", "2", "--words"]).ok();
    assert!(words.out.contains("[-49.90-]{+59.90+}"), "{}", words.out);
    home.run(&["diff", &url, "1", "9"]).says(2, "hint: these are: 1, 2");

    let status = home.run(&["status", "--json"]).json();
    assert_eq!((&status["running"], &status["sources"]), (&true.into(), &1.into()));
    assert_eq!(status["daemon"]["changes"], 1);
    assert!(status["daemon"]["freshness"].as_f64().unwrap() > 0.0);
    let shown = home.run(&["show", &url, "--limit", "1000000", "--json"]).json();
    let history = shown["history"].as_array().unwrap();
    assert_eq!(history.iter().filter(|it| it["outcome"] == "changed").count(), 1, "{shown}");
    assert_eq!(shown["kept"].as_array().unwrap().len(), 2);
    let believed = &shown["believed"];
    let rate = |name: &str| believed[name].as_f64().unwrap();
    assert!(rate("changes_a_day_low") < rate("changes_a_day"));
    assert!(rate("changes_a_day") < rate("changes_a_day_high"));
    assert!(home.run(&["show", &url]).ok().out.contains("on average; with 95 % between"));

    assert_eq!(daemon.stop(), Some(0), "{}", home.log());
    assert!(!socket.exists());
    assert_eq!(home.run(&["status"]).code, Some(1));
    assert_eq!(home.lines(&["changes", "--json"]), changes);
    // What is known without a daemon is what it knew.
    let later = home.run(&["show", &url, "--json"]).json();
    for name in ["price", "changes_a_day"] {
        let ratio = later["believed"][name].as_f64().unwrap() / rate(name);
        assert!((0.9..1.1).contains(&ratio), "{name}: {ratio}");
    }
}

#[test]
fn changes_are_followed_as_they_come() {
    let site = Site::start();
    site.set("/a", "one");
    let home = Home::new(FAST);
    home.run(&["add", &site.url("/a")]).ok();
    home.run(&["check", &site.url("/a")]).ok();
    let mut following = home.spawn(&["changes", "--follow", "--json"]);
    let mut lines = BufReader::new(following.child.stdout.take().unwrap()).lines();
    for text in ["two", "three"] {
        site.set("/a", text);
        home.run(&["check", &site.url("/a")]).ok();
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert!(line["summary"].as_str().unwrap().ends_with(text), "{line}");
    }
    // Nobody reads any more: it ends by itself at the next change.
    drop(lines);
    site.set("/a", "four");
    home.run(&["check", &site.url("/a")]).ok();
    assert_eq!(following.child.wait().unwrap().code(), Some(0));
}
