//! Starting, reloading and ending.

use std::fs;

use crate::home::{FAST, Home, until};
use crate::site::Site;

#[test]
fn a_second_daemon_says_who_has_the_store() {
    let home = Home::new(FAST);
    let first = home.start();
    let second = home.run(&["run"]);
    second.says(2, &format!("in use by process {}", first.child.id()));
    // The door of the first is still open.
    home.run(&["status"]).ok();
    assert_eq!(first.stop(), Some(0));
}

#[test]
fn a_store_that_somebody_holds_in_silence_is_named() {
    let home = Home::new("");
    home.run(&["add", "https://example.com/"]).ok();
    let held = fs::File::open(home.path("freshet.db.lock")).unwrap();
    held.lock().unwrap();
    home.run(&["add", "https://example.org/"]).says(2, "and nobody answers at");
    // Looking needs nobody's leave.
    assert_eq!(home.lines(&["ls", "--json"]).len(), 1);
    held.unlock().unwrap();
    home.run(&["add", "https://example.org/"]).ok();
}

#[test]
fn what_a_dead_daemon_left_does_not_matter() {
    let site = Site::start();
    let home = Home::new(FAST);
    let mut daemon = home.start();
    daemon.child.kill().unwrap();
    daemon.child.wait().unwrap();
    assert!(home.path("freshet.db.sock").exists());
    assert_eq!(home.run(&["status"]).code, Some(1));
    home.run(&["add", &site.url("/a")]).ok();
    let daemon = home.start();
    assert_eq!(home.run(&["status", "--json"]).json()["sources"], 1);
    assert_eq!(daemon.stop(), Some(0));
    assert!(!home.path("freshet.db.sock").exists());
}

#[test]
fn settings_are_read_again_and_bad_ones_are_refused() {
    let home = Home::new("budget = \"100/day\"\n");
    let daemon = home.start();
    let budget = || home.run(&["status", "--json"]).json()["budget_a_day"].as_f64();
    assert_eq!(budget(), Some(100.0));
    home.configure("budget = \"200/day\"\n");
    daemon.signal("-HUP");
    until("the new budget holds", || budget() == Some(200.0));
    let good = home.read("freshet.toml");
    home.write("freshet.toml", "budget = \"lots\"\n");
    daemon.signal("-HUP");
    until("the fault is logged", || home.log().contains("`lots` is not a budget"));
    assert!(home.log().contains("the settings stay as they are"), "{}", home.log());
    home.write("freshet.toml", good);
    assert_eq!(budget(), Some(200.0));
    home.configure("budget = \"300/day\"\nstore = \"other.db\"\n");
    daemon.signal("-HUP");
    until("the rest of it holds", || {
        let log = home.log();
        log.contains("`store` is other.db now: that takes a restart")
            && log.matches("read again").count() == 2
    });
    assert!(!home.path("other.db").exists());
    home.configure("budget = \"300/day\"\n");
    assert_eq!(budget(), Some(300.0));
    assert_eq!(daemon.stop(), Some(0));
    // Without a terminal each line is an object.
    for line in home.log().lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(object["level"].is_string() && object["message"].is_string(), "{line}");
    }
}

#[test]
fn a_start_says_what_there_is_and_what_to_do() {
    let home = Home::new("budget = \"100/day\"\n");
    let daemon = home.start();
    let log = home.log();
    for part in ["keeping sources fresh", "100/day", "freshet.db", "freshet add"] {
        assert!(log.contains(part), "{part}: {log}");
    }
    drop(daemon);
    fs::remove_file(home.path("freshet.toml")).unwrap();
    home.run(&["run"]).says(2, "hint: write one with `freshet init`");
    home.run(&["run", "--log", "loud"]).says(2, "`loud` is not one of");
}

#[test]
fn a_path_that_is_too_long_for_a_socket_has_one_elsewhere() {
    let home = Home::new("");
    let deep = "deep".repeat(20);
    fs::create_dir(home.path(&deep)).unwrap();
    home.configure(&format!("store = \"{deep}/freshet.db\"\n"));
    let daemon = home.start();
    home.run(&["add", "https://example.com/"]).ok();
    assert_eq!(home.run(&["status", "--json"]).json()["sources"], 1);
    let beside = fs::read_dir(home.path(&deep)).unwrap();
    let sockets =
        beside.filter(|it| it.as_ref().unwrap().path().extension() == Some("sock".as_ref()));
    assert_eq!(sockets.count(), 0);
    assert_eq!(daemon.stop(), Some(0));
}
