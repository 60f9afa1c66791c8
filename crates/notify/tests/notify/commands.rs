//! Commands of the configuration.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use freshet_notify::{RawChannel, RawCommand, RawTarget, Target};

use crate::test_daemon::{FAST_RETRIES, TestDaemon, wait_until};

/// Writes scripts, and returns a configuration that names them.
fn scripts(folder: &Path, scripts: &[(&str, &str)]) -> String {
    let mut config = FAST_RETRIES.to_owned();
    config.push_str("[commands]\n");
    for (name, text) in scripts {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        config.push_str(&format!("{name} = [\"{}\", \"{}\"]\n", path.display(), folder.display()));
    }
    config
}

fn command(name: &str) -> RawTarget {
    RawTarget::new(RawChannel::Command(RawCommand { name: name.to_owned() }))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_gets_the_entry_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let script = "cat >> \"$1/in\"; env >> \"$1/env\"; echo thanks";
    let daemon = TestDaemon::new(&scripts(folder.path(), &[("tell", script)])).await;
    let id = daemon.add_destination("program", command("tell")).await;
    // No shell interprets it.
    let hostile = "$(touch pwned) `touch pwned`; touch pwned\n'\"\u{0}x";
    let cursor = daemon.log_change(1, hostile).await;
    wait_until("delivered", async || daemon.destination(id).await.cursor == cursor).await;
    let entry: serde_json::Value = serde_json::from_str(&read(&folder.path().join("in"))).unwrap();
    assert_eq!(
        (entry["cursor"].as_i64(), entry["summary"].as_str()),
        (Some(cursor), Some(hostile))
    );
    let env = read(&folder.path().join("env"));
    for line in ["FRESHET_URL=https://a.example/news", "FRESHET_KIND=changed", "FRESHET_COUNT=1"] {
        assert!(env.lines().any(|it| it == line), "{line} in {env}");
    }
    assert!(env.contains("FRESHET_SUMMARY=$(touch pwned) `touch pwned`; touch pwned '\" x\n"));
    // The environment of the daemon is not inherited.
    assert!(!env.contains("CARGO"), "{env}");
    assert!(!folder.path().join("pwned").exists() && !Path::new("/pwned").exists());
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_defines_the_input_of_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = TestDaemon::new(&scripts(folder.path(), &[("tell", "cat >> \"$1/in\"")])).await;
    let mut raw = command("tell");
    raw.text = Some("{{ kind }}: {{url}} {{summary}}\n".into());
    let id = daemon.add_destination("program", raw).await;
    let cursor = daemon.log_change(0, "{{cursor}}").await;
    wait_until("delivered", async || daemon.destination(id).await.cursor == cursor).await;
    assert_eq!(read(&folder.path().join("in")), "changed: https://a.example/ {{cursor}}\n");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_command_is_retried_and_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo x >> \"$1/runs\"; echo sorry >&2; exit 7";
    let daemon = TestDaemon::new(&scripts(folder.path(), &[("tell", script)])).await;
    let id = daemon.add_destination("program", command("tell")).await;
    let cursor = daemon.log_change(0, "x").await;
    wait_until("given up", async || daemon.destination(id).await.cursor == cursor).await;
    let dead = daemon.dead_letters(id).await;
    assert_eq!(dead[0].delivery.error, "`tell` exited with code 7");
    assert_eq!(read(&folder.path().join("runs")).lines().count(), 5);
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_configured_commands_are_run() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = TestDaemon::new(&scripts(folder.path(), &[("tell", "true")])).await;
    let target = Target::try_from(command("other")).unwrap();
    let error = daemon.notifier.send_test("x", &target).await.unwrap_err();
    assert!(error.message.contains("command `other` is not defined"), "{error}");
    for name in ["/bin/sh", "../tell", "tell x", "", "tell\n"] {
        assert!(Target::try_from(command(name)).is_err(), "{name}");
    }
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_with_too_much_output_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo $$ > \"$1/pid\"; yes flood";
    let daemon = TestDaemon::new(&scripts(folder.path(), &[("tell", script)])).await;
    let target = Target::try_from(command("tell")).unwrap();
    let error = daemon.notifier.send_test("x", &target).await.unwrap_err();
    assert!(error.message.contains("wrote more than"), "{error}");
    let pid = read(&folder.path().join("pid")).trim().to_owned();
    wait_until("exited", async || has_exited(&pid)).await;
    daemon.stop().await;
}

/// True if a process has exited, or is a zombie.
fn has_exited(pid: &str) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.rsplit(')').next().unwrap().trim().starts_with('Z'),
        Err(_) => true,
    }
}

/// Script that waits for a child forever.
const HANGS: &str = "sleep 1000 & echo $! > \"$1/child\"; echo $$ > \"$1/pid\"; wait";

/// Runs a script until it has written its process ids: on a loaded machine the time limit may expire before.
async fn run_until_started(folder: &Path, run: impl AsyncFn()) -> (String, String) {
    let read_id = |name: &str| read(&folder.join(name)).trim().to_owned();
    for _ in 0..60 {
        run().await;
        let (pid, child) = (read_id("pid"), read_id("child"));
        if !pid.is_empty() && !child.is_empty() {
            return (pid, child);
        }
    }
    panic!("the script never started");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_command_is_killed_at_its_time_limit() {
    let folder = tempfile::tempdir().unwrap();
    let config = scripts(folder.path(), &[("tell", HANGS)]);
    let config = config.replace("[notify]\n", "[notify]\nlimit = \"1s\"\n");
    let daemon = TestDaemon::new(&config).await;
    let target = Target::try_from(command("tell")).unwrap();
    let (pid, child) = run_until_started(folder.path(), async || {
        let error = daemon.notifier.send_test("x", &target).await.unwrap_err();
        assert_eq!(error.message, "`tell` exceeded the time limit of 1s and was killed");
    })
    .await;
    wait_until("both exited", async || has_exited(&pid) && has_exited(&child)).await;
    daemon.stop().await;
}

/// Script that starts a process in another session, and continues in a session of its own.
const ESCAPES: &str = "(setsid sleep 1000 & echo $! > \"$1/child\"); \
    setsid sh -c 'echo $$ > \"$0/pid\"; sleep 1000; true' \"$1\"";

#[tokio::test(flavor = "multi_thread")]
async fn a_command_in_another_session_is_killed_at_its_time_limit() {
    let folder = tempfile::tempdir().unwrap();
    let config = scripts(folder.path(), &[("tell", ESCAPES)]);
    let config = config.replace("[notify]\n", "[notify]\nlimit = \"1s\"\n");
    let daemon = TestDaemon::new(&config).await;
    let target = Target::try_from(command("tell")).unwrap();
    let (pid, child) = run_until_started(folder.path(), async || {
        let error = daemon.notifier.send_test("x", &target).await.unwrap_err();
        assert_eq!(error.message, "`tell` exceeded the time limit of 1s and was killed");
    })
    .await;
    wait_until("both exited", async || has_exited(&pid) && has_exited(&child)).await;
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_runs_as_soon_as_it_is_configured() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = TestDaemon::new(&FAST_RETRIES.replace("20ms", "10h")).await;
    let id = daemon.add_destination("program", command("tell")).await;
    let cursor = daemon.log_change(0, "x").await;
    wait_until("failed", async || daemon.destination(id).await.attempts == 1).await;
    let config = scripts(folder.path(), &[("tell", "cat >> \"$1/in\"")]);
    daemon.reload(&config.replace("20ms", "10h"));
    wait_until("delivered", async || daemon.destination(id).await.cursor == cursor).await;
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_command_is_killed_with_its_children_on_stop() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = TestDaemon::new(&scripts(folder.path(), &[("tell", HANGS)])).await;
    daemon.add_destination("program", command("tell")).await;
    daemon.log_change(0, "x").await;
    let read_id = |name: &str| read(&folder.path().join(name)).trim().to_owned();
    wait_until("running", async || !read_id("pid").is_empty()).await;
    let (pid, child) = (read_id("pid"), read_id("child"));
    assert!(!has_exited(&pid) && !has_exited(&child));
    // The notifier stops.
    daemon.stop().await;
    wait_until("both exited", async || has_exited(&pid) && has_exited(&child)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_need_not_read_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let script = "exec 0<&-; sleep 0; echo done";
    let daemon = TestDaemon::new(&scripts(folder.path(), &[("tell", script)])).await;
    let target = Target::try_from(command("tell")).unwrap();
    let receipt = daemon.notifier.send_test("x", &target).await.unwrap();
    assert_eq!(receipt.answer, "done");
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_contains_all_entries() {
    let folder = tempfile::tempdir().unwrap();
    let daemon = TestDaemon::new(&scripts(folder.path(), &[("tell", "cat >> \"$1/in\"")])).await;
    let mut raw = command("tell");
    raw.text = Some("{{cursor}}\n".into());
    raw.digest = Some("1s".to_owned());
    let id = daemon.add_destination("program", raw).await;
    let cursor = daemon.log_changes(&[(0, "x"); 300]).await;
    wait_until("delivered", async || daemon.destination(id).await.cursor == cursor).await;
    let delivered = read(&folder.path().join("in"));
    let delivered: Vec<i64> = delivered.lines().filter_map(|it| it.parse().ok()).collect();
    assert_eq!(delivered, (1..=cursor).collect::<Vec<_>>());
    daemon.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn new_settings_are_not_postponed_by_a_failure_of_the_old_ones() {
    let folder = tempfile::tempdir().unwrap();
    // The first command waits for a signal before it fails.
    let fails = "echo x > \"$1/began\"; while [ ! -e \"$1/go\" ]; do sleep 0.05; done; exit 7";
    let config = scripts(folder.path(), &[("fails", fails), ("tell", "cat >> \"$1/in\"")]);
    let daemon = TestDaemon::new(&config.replace("20ms", "10h")).await;
    let id = daemon.add_destination("program", command("fails")).await;
    let cursor = daemon.log_change(0, "x").await;
    wait_until("started", async || folder.path().join("began").exists()).await;
    daemon.replace_settings(id, command("tell")).await;
    fs::write(folder.path().join("go"), "").unwrap();
    wait_until("delivered", async || daemon.destination(id).await.cursor == cursor).await;
    assert!(!read(&folder.path().join("in")).is_empty());
    daemon.stop().await;
}
