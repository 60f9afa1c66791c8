//! The daemon is killed repeatedly at random moments under load: nothing is lost, nothing is reported
//! twice, and the budget holds over the whole time. A webhook that fails half of the deliveries receives
//! every change, in order.
//!
//! `scripts/kill-run 200` kills it two hundred times; `FRESHET_KILLS` sets the number for this test.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used)]

mod site;
mod webhook;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use freshet_store::{Change, ChangeFilter, Reader};

use site::Site;
use webhook::WebhookReceiver;

const PAGES: usize = 120;
const HOSTS: usize = 8;
/// Budget in fetches per second.
const RATE: f64 = 300.0;

struct TestInstance {
    folder: tempfile::TempDir,
}

impl TestInstance {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "budget = \"{RATE}/s\"\n[hosts]\ngap = \"0s\"\nconnections = 4\n\
             [fetch]\nallow = [\"127.0.0.0/8\", \"localhost\"]\nrobots = false\n\
             [notify]\nwait = \"5ms\"\nattempts = 1000\n"
        );
        std::fs::write(folder.path().join("freshet.toml"), text).unwrap();
        Self { folder }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("freshet.db")
    }

    fn freshet(&self) -> Command {
        let mut command = Command::new(Path::new(env!("CARGO_BIN_EXE_freshet")));
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn run(&self) -> Child {
        self.freshet().arg("run").spawn().unwrap()
    }
}

/// Entries of the change log that were read, and must stay there.
#[derive(Default)]
struct SeenChanges {
    seen: BTreeMap<i64, Change>,
}

impl SeenChanges {
    fn read_new(&mut self, store: &Path) -> usize {
        let Ok(reader) = Reader::open(store) else { return self.seen.len() };
        let after = self.seen.keys().next_back().copied().unwrap_or(0);
        for change in reader.changes(after, 1_000_000, &ChangeFilter::default()).unwrap() {
            self.seen.insert(change.cursor, change);
        }
        self.seen.len()
    }

    /// Checks that all entries are still there, and that the changes of each source are consecutive.
    fn check(&self, store: &Path, site: &Site) {
        let reader = Reader::open(store).unwrap();
        let all = reader.changes(0, 10_000_000, &ChangeFilter::default()).unwrap();
        let stored: BTreeMap<i64, &Change> = all.iter().map(|it| (it.cursor, it)).collect();
        for (cursor, change) in &self.seen {
            assert_eq!(stored.get(cursor), Some(&change), "change {cursor} was modified");
        }
        let mut last: BTreeMap<u32, (&Change, u64)> = BTreeMap::new();
        for change in &all {
            let details = &change.change;
            assert_ne!(Some(details.new_digest), details.old_digest, "{change:?} is not a change");
            assert!(
                details.last_unchanged_at.is_some_and(|at| at <= details.first_changed_at),
                "{change:?}"
            );
            let version = site::version_in(&details.summary).unwrap();
            assert!(site.has_served(&change.url, version), "{change:?} was never served");
            if let Some((before, older)) = last.insert(change.source, (change, version)) {
                assert_eq!(details.old_digest, Some(before.change.new_digest), "{change:?}");
                assert!(version > older, "{change:?} after {before:?}");
            }
        }
    }
}

#[test]
fn nothing_is_lost_when_the_daemon_is_killed_at_any_moment() {
    let kills: u32 = std::env::var("FRESHET_KILLS").map_or(12, |it| it.parse().unwrap());
    let site = Site::start(PAGES, HOSTS);
    let instance = TestInstance::new();
    let urls: Vec<String> = (0..PAGES).map(|page| site.url(page)).collect();
    assert!(instance.freshet().arg("add").args(&urls).status().unwrap().success());

    let hook = WebhookReceiver::start();
    let added = instance
        .freshet()
        .args(["notify", "add", "hook", "--webhook", &hook.url])
        .stdout(Stdio::piped())
        .output()
        .unwrap();
    let secret = String::from_utf8(added.stdout).unwrap().trim().to_owned();

    let mut log = SeenChanges::default();
    let mut alive = Duration::ZERO;
    // Linear congruential generator, so that the moments differ between the iterations.
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..kills {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let moment = Duration::from_millis(20 + (random >> 33) % 500);
        let start = Instant::now();
        let requests = site.requests();
        let mut child = instance.run();
        // The daemon is under load from the first request.
        let deadline = start + Duration::from_secs(60);
        while site.requests() == requests && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        let end = Instant::now() + moment;
        while Instant::now() < end {
            log.read_new(&instance.store());
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        alive += start.elapsed();
        log.read_new(&instance.store());
        log.check(&instance.store(), &site);
    }
    let paid = alive.as_secs_f64() * RATE;
    let requests = site.requests() as f64;
    // The first start may make a burst of ten fetches.
    assert!(requests <= paid + 11.0, "{requests} requests, {paid} paid for");

    // Without further changes, all copies become fresh.
    site.freeze();
    let mut child = instance.run();
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let stale = stale(&instance.store(), &site);
        if stale.is_empty() {
            break;
        }
        assert!(Instant::now() < deadline, "never fresh: {stale:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Every change has been delivered.
    let mut logged = || {
        log.read_new(&instance.store());
        log.seen.keys().copied().collect::<Vec<i64>>()
    };
    while hook.cursors() != logged() {
        assert!(Instant::now() < deadline, "not all changes were delivered: {:?}", hook.counts());
        std::thread::sleep(Duration::from_millis(20));
    }
    hook.check(&secret);
    let (received, failed) = hook.counts();
    println!("{} changes, {received} deliveries, {failed} of them rejected", hook.cursors().len());
    let pid = i32::try_from(child.id()).unwrap().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(child.wait().unwrap().success());
    log.read_new(&instance.store());
    log.check(&instance.store(), &site);
    assert!(log.seen.len() > PAGES / 2, "only {} changes were seen", log.seen.len());
    let reader = Reader::open(&instance.store()).unwrap();
    assert!(reader.check_integrity().unwrap().is_ok());
}

/// Returns the sources whose copy is not up to date.
fn stale(store: &Path, site: &Site) -> Vec<String> {
    let Ok(reader) = Reader::open(store) else { return vec!["all".to_owned()] };
    let fresh = |url: &String| {
        let id = reader.find_source(url).unwrap()?;
        let n = reader.source(id).unwrap()?.version;
        let text = String::from_utf8(reader.version(id, n).unwrap()?.content).unwrap();
        (site::version_in(&text) == Some(site.version(url))).then_some(())
    };
    let urls = (0..PAGES).map(|page| site.url(page));
    urls.filter(|url| fresh(url).is_none()).collect()
}
