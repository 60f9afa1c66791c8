//! Commands that an owner names.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use freshet_notify::{RawChannel, RawCommand, RawTarget, Target};

use crate::home::{Home, QUICK, until};

/// A configuration with scripts, by name.
fn scripts(folder: &Path, scripts: &[(&str, &str)]) -> String {
    let mut config = QUICK.to_owned();
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
    let home = Home::new(&scripts(folder.path(), &[("tell", script)])).await;
    let id = home.tell("program", command("tell")).await;
    // Nothing in it is read by a shell.
    let nasty = "$(touch pwned) `touch pwned`; touch pwned\n'\"\u{0}x";
    let cursor = home.change(1, nasty).await;
    until("it is told", async || home.row(id).await.cursor == cursor).await;
    let entry: serde_json::Value = serde_json::from_str(&read(&folder.path().join("in"))).unwrap();
    assert_eq!((entry["cursor"].as_i64(), entry["summary"].as_str()), (Some(cursor), Some(nasty)));
    let env = read(&folder.path().join("env"));
    for line in ["FRESHET_URL=https://a.example/news", "FRESHET_KIND=changed", "FRESHET_COUNT=1"] {
        assert!(env.lines().any(|it| it == line), "{line} in {env}");
    }
    assert!(env.contains("FRESHET_SUMMARY=$(touch pwned) `touch pwned`; touch pwned '\" x\n"));
    // What the daemon knows is not for others.
    assert!(!env.contains("CARGO"), "{env}");
    assert!(!folder.path().join("pwned").exists() && !Path::new("/pwned").exists());
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_says_what_a_command_reads() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::new(&scripts(folder.path(), &[("tell", "cat >> \"$1/in\"")])).await;
    let mut raw = command("tell");
    raw.text = Some("{{ kind }}: {{url}} {{summary}}\n".into());
    let id = home.tell("program", raw).await;
    let cursor = home.change(0, "{{cursor}}").await;
    until("it is told", async || home.row(id).await.cursor == cursor).await;
    assert_eq!(read(&folder.path().join("in")), "changed: https://a.example/ {{cursor}}\n");
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_fails_is_run_again_and_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo x >> \"$1/runs\"; echo sorry >&2; exit 7";
    let home = Home::new(&scripts(folder.path(), &[("tell", script)])).await;
    let id = home.tell("program", command("tell")).await;
    let cursor = home.change(0, "x").await;
    until("it is given up", async || home.row(id).await.cursor == cursor).await;
    let dead = home.dead(id).await;
    assert_eq!(dead[0].delivery.error, "`tell` ended with 7");
    assert_eq!(read(&folder.path().join("runs")).lines().count(), 5);
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_what_the_owner_names_is_run() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::new(&scripts(folder.path(), &[("tell", "true")])).await;
    let target = Target::try_from(command("other")).unwrap();
    let trouble = home.notifier.send_test("x", &target).await.unwrap_err();
    assert!(trouble.message.contains("no command `other`"), "{trouble}");
    for name in ["/bin/sh", "../tell", "tell x", "", "tell\n"] {
        assert!(Target::try_from(command(name)).is_err(), "{name}");
    }
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_floods_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo $$ > \"$1/pid\"; yes flood";
    let home = Home::new(&scripts(folder.path(), &[("tell", script)])).await;
    let target = Target::try_from(command("tell")).unwrap();
    let trouble = home.notifier.send_test("x", &target).await.unwrap_err();
    assert!(trouble.message.contains("wrote more than"), "{trouble}");
    let pid = read(&folder.path().join("pid")).trim().to_owned();
    until("it has ended", async || is_over(&pid)).await;
    home.stop().await;
}

/// Whether a process has ended, or only waits to be buried.
fn is_over(pid: &str) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.rsplit(')').next().unwrap().trim().starts_with('Z'),
        Err(_) => true,
    }
}

/// Waits for a child for ever.
const HANGS: &str = "sleep 1000 & echo $! > \"$1/child\"; echo $$ > \"$1/pid\"; wait";

/// Runs a script until it has come so far that it names its processes: where much else is going on, its
/// limit may be over before.
async fn until_it_has_begun(folder: &Path, run: impl AsyncFn()) -> (String, String) {
    let of = |name: &str| read(&folder.join(name)).trim().to_owned();
    for _ in 0..60 {
        run().await;
        let (pid, child) = (of("pid"), of("child"));
        if !pid.is_empty() && !child.is_empty() {
            return (pid, child);
        }
    }
    panic!("it never began");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_hangs_is_ended_at_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let config = scripts(folder.path(), &[("tell", HANGS)]);
    let config = config.replace("[notify]\n", "[notify]\nlimit = \"1s\"\n");
    let home = Home::new(&config).await;
    let target = Target::try_from(command("tell")).unwrap();
    let (pid, child) = until_it_has_begun(folder.path(), async || {
        let trouble = home.notifier.send_test("x", &target).await.unwrap_err();
        assert_eq!(trouble.message, "`tell` took longer than 1s and was ended");
    })
    .await;
    until("both have ended", async || is_over(&pid) && is_over(&child)).await;
    home.stop().await;
}

/// Begins one that has a session of its own and no parent any more, and goes on as another.
const FLEES: &str = "(setsid sleep 1000 & echo $! > \"$1/child\"); \
    setsid sh -c 'echo $$ > \"$0/pid\"; sleep 1000; true' \"$1\"";

#[tokio::test(flavor = "multi_thread")]
async fn one_that_flees_into_another_session_is_ended_at_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let config = scripts(folder.path(), &[("tell", FLEES)]);
    let config = config.replace("[notify]\n", "[notify]\nlimit = \"1s\"\n");
    let home = Home::new(&config).await;
    let target = Target::try_from(command("tell")).unwrap();
    let (pid, child) = until_it_has_begun(folder.path(), async || {
        let trouble = home.notifier.send_test("x", &target).await.unwrap_err();
        assert_eq!(trouble.message, "`tell` took longer than 1s and was ended");
    })
    .await;
    until("both have ended", async || is_over(&pid) && is_over(&child)).await;
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_is_named_later_is_run_as_soon_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::new(&QUICK.replace("20ms", "10h")).await;
    let id = home.tell("program", command("tell")).await;
    let cursor = home.change(0, "x").await;
    until("it fails", async || home.row(id).await.attempts == 1).await;
    let config = scripts(folder.path(), &[("tell", "cat >> \"$1/in\"")]);
    home.reload(&config.replace("20ms", "10h"));
    until("it is told", async || home.row(id).await.cursor == cursor).await;
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_hangs_ends_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::new(&scripts(folder.path(), &[("tell", HANGS)])).await;
    home.tell("program", command("tell")).await;
    home.change(0, "x").await;
    let of = |name: &str| read(&folder.path().join(name)).trim().to_owned();
    until("it runs", async || !of("pid").is_empty()).await;
    let (pid, child) = (of("pid"), of("child"));
    assert!(!is_over(&pid) && !is_over(&child));
    // All is to end.
    home.stop().await;
    until("both have ended", async || is_over(&pid) && is_over(&child)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_does_not_read_is_no_trouble() {
    let folder = tempfile::tempdir().unwrap();
    let script = "exec 0<&-; sleep 0; echo done";
    let home = Home::new(&scripts(folder.path(), &[("tell", script)])).await;
    let target = Target::try_from(command("tell")).unwrap();
    let receipt = home.notifier.send_test("x", &target).await.unwrap();
    assert_eq!(receipt.answer, "done");
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_digest_leaves_out_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::new(&scripts(folder.path(), &[("tell", "cat >> \"$1/in\"")])).await;
    let mut raw = command("tell");
    raw.text = Some("{{cursor}}\n".into());
    raw.digest = Some("1s".to_owned());
    let id = home.tell("program", raw).await;
    let cursor = home.changes(&[(0, "x"); 300]).await;
    until("it is told", async || home.row(id).await.cursor == cursor).await;
    let told = read(&folder.path().join("in"));
    let told: Vec<i64> = told.lines().filter_map(|it| it.parse().ok()).collect();
    assert_eq!(told, (1..=cursor).collect::<Vec<_>>());
    home.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_described_anew_is_not_put_off_by_what_it_was() {
    let folder = tempfile::tempdir().unwrap();
    // The first waits until it may fail.
    let fails = "echo x > \"$1/began\"; while [ ! -e \"$1/go\" ]; do sleep 0.05; done; exit 7";
    let config = scripts(folder.path(), &[("fails", fails), ("tell", "cat >> \"$1/in\"")]);
    let home = Home::new(&config.replace("20ms", "10h")).await;
    let id = home.tell("program", command("fails")).await;
    let cursor = home.change(0, "x").await;
    until("it has begun", async || folder.path().join("began").exists()).await;
    home.retell(id, command("tell")).await;
    fs::write(folder.path().join("go"), "").unwrap();
    until("it is told", async || home.row(id).await.cursor == cursor).await;
    assert!(!read(&folder.path().join("in")).is_empty());
    home.stop().await;
}
