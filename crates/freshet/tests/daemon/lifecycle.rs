//! Start, reload and shutdown of the daemon.

use std::fs;

use crate::instance::{FAST, TestInstance, wait_until};
use crate::site::Site;

#[test]
fn a_second_daemon_reports_the_process_that_uses_the_store() {
    let instance = TestInstance::new(FAST);
    let first = instance.start();
    let second = instance.run(&["run"]);
    second.has_error(2, &format!("in use by process {}", first.child.id()));
    // The first daemon still answers.
    instance.run(&["status"]).ok();
    assert_eq!(first.stop(), Some(0));
}

#[test]
fn a_locked_store_without_a_daemon_is_reported() {
    let instance = TestInstance::new("");
    instance.run(&["add", "https://example.com/"]).ok();
    let held = fs::File::open(instance.path("freshet.db.lock")).unwrap();
    held.lock().unwrap();
    instance.run(&["add", "https://example.org/"]).has_error(2, "and no daemon answers at");
    // Reading does not require the lock.
    assert_eq!(instance.lines(&["ls", "--json"]).len(), 1);
    held.unlock().unwrap();
    instance.run(&["add", "https://example.org/"]).ok();
}

#[test]
fn the_files_of_a_killed_daemon_are_replaced() {
    let site = Site::start();
    let instance = TestInstance::new(FAST);
    let mut daemon = instance.start();
    daemon.child.kill().unwrap();
    daemon.child.wait().unwrap();
    assert!(instance.path("freshet.db.sock").exists());
    assert_eq!(instance.run(&["status"]).code, Some(1));
    instance.run(&["add", &site.url("/a")]).ok();
    let daemon = instance.start();
    assert_eq!(instance.run(&["status", "--json"]).json()["sources"], 1);
    assert_eq!(daemon.stop(), Some(0));
    assert!(!instance.path("freshet.db.sock").exists());
}

#[test]
fn settings_are_reloaded_and_invalid_ones_are_rejected() {
    let instance = TestInstance::new("budget = \"100/day\"\n");
    let daemon = instance.start();
    let budget = || instance.run(&["status", "--json"]).json()["budget_a_day"].as_f64();
    assert_eq!(budget(), Some(100.0));
    instance.configure("budget = \"200/day\"\n");
    daemon.signal("-HUP");
    wait_until("the new budget holds", || budget() == Some(200.0));
    let good = instance.read("freshet.toml");
    instance.write("freshet.toml", "budget = \"lots\"\n");
    daemon.signal("-HUP");
    wait_until("the fault is logged", || instance.log().contains("`lots` is not a budget"));
    assert!(instance.log().contains("the current settings stay in effect"), "{}", instance.log());
    instance.write("freshet.toml", good);
    assert_eq!(budget(), Some(200.0));
    instance.configure("budget = \"300/day\"\nstore = \"other.db\"\n");
    daemon.signal("-HUP");
    wait_until("the rest of it holds", || {
        let log = instance.log();
        log.contains("`store` is now other.db: restart the daemon to use it")
            && log.matches("configuration reloaded").count() == 2
    });
    assert!(!instance.path("other.db").exists());
    instance.configure("budget = \"300/day\"\n");
    assert_eq!(budget(), Some(300.0));
    assert_eq!(daemon.stop(), Some(0));
    // Without a terminal, each line of the log is a JSON object.
    for line in instance.log().lines() {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(object["level"].is_string() && object["message"].is_string(), "{line}");
    }
}

#[test]
fn the_start_is_logged_with_the_budget_the_store_and_a_hint() {
    let instance = TestInstance::new("budget = \"100/day\"\n");
    let daemon = instance.start();
    let log = instance.log();
    for part in ["keeping sources fresh", "100/day", "freshet.db", "freshet add"] {
        assert!(log.contains(part), "{part}: {log}");
    }
    drop(daemon);
    fs::remove_file(instance.path("freshet.toml")).unwrap();
    instance.run(&["run"]).has_error(2, "hint: create one with `freshet init`");
    instance.run(&["run", "--log", "loud"]).has_error(2, "`loud` is not one of");
}

#[test]
fn a_path_that_is_too_long_for_a_socket_uses_another_directory() {
    let instance = TestInstance::new("");
    let deep = "deep".repeat(20);
    fs::create_dir(instance.path(&deep)).unwrap();
    instance.configure(&format!("store = \"{deep}/freshet.db\"\n"));
    let daemon = instance.start();
    instance.run(&["add", "https://example.com/"]).ok();
    assert_eq!(instance.run(&["status", "--json"]).json()["sources"], 1);
    let beside = fs::read_dir(instance.path(&deep)).unwrap();
    let sockets =
        beside.filter(|it| it.as_ref().unwrap().path().extension() == Some("sock".as_ref()));
    assert_eq!(sockets.count(), 0);
    assert_eq!(daemon.stop(), Some(0));
}
