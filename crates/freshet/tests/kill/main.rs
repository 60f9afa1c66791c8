//! The daemon is killed at random moments under load, again and again: nothing is lost, nothing is
//! reported twice, and the budget holds over the whole time. Somebody who is told by a webhook, and fails
//! half of the time, is told of every change all the same, in order.
//!
//! `scripts/kill-run 200` does it two hundred times; `FRESHET_KILLS` says how often it is done here.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used)]

mod hook;
mod site;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use freshet_store::{Change, ChangeFilter, Reader};

use hook::Hook;
use site::Site;

const PAGES: usize = 120;
const HOSTS: usize = 8;
/// Fetches a second.
const RATE: f64 = 300.0;

struct Home {
    folder: tempfile::TempDir,
}

impl Home {
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

/// What was seen in the log, and must stay there.
#[derive(Default)]
struct Log {
    seen: BTreeMap<i64, Change>,
}

impl Log {
    fn look(&mut self, store: &Path) -> usize {
        let Ok(reader) = Reader::open(store) else { return self.seen.len() };
        let after = self.seen.keys().next_back().copied().unwrap_or(0);
        for change in reader.changes(after, 1_000_000, &ChangeFilter::default()).unwrap() {
            self.seen.insert(change.cursor, change);
        }
        self.seen.len()
    }

    /// All that was ever seen is there as it was, and each source's changes hang together.
    fn check(&self, store: &Path, site: &Site) {
        let reader = Reader::open(store).unwrap();
        let all = reader.changes(0, 10_000_000, &ChangeFilter::default()).unwrap();
        let there: BTreeMap<i64, &Change> = all.iter().map(|it| (it.cursor, it)).collect();
        for (cursor, change) in &self.seen {
            assert_eq!(there.get(cursor), Some(&change), "change {cursor} is not what it was");
        }
        let mut last: BTreeMap<u32, (&Change, u64)> = BTreeMap::new();
        for change in &all {
            let told = &change.change;
            assert_ne!(Some(told.new_digest), told.old_digest, "{change:?} is none");
            assert!(
                told.last_unchanged_at.is_some_and(|at| at <= told.first_changed_at),
                "{change:?}"
            );
            let version = site::version_in(&told.summary).unwrap();
            assert!(site.has_served(&change.url, version), "{change:?} was never there");
            if let Some((before, older)) = last.insert(change.source, (change, version)) {
                assert_eq!(told.old_digest, Some(before.change.new_digest), "{change:?}");
                assert!(version > older, "{change:?} after {before:?}");
            }
        }
    }
}

#[test]
fn killed_at_any_moment() {
    let kills: u32 = std::env::var("FRESHET_KILLS").map_or(12, |it| it.parse().unwrap());
    let site = Site::start(PAGES, HOSTS);
    let home = Home::new();
    let urls: Vec<String> = (0..PAGES).map(|page| site.url(page)).collect();
    assert!(home.freshet().arg("add").args(&urls).status().unwrap().success());

    let hook = Hook::start();
    let added = home
        .freshet()
        .args(["notify", "add", "hook", "--webhook", &hook.url])
        .stdout(Stdio::piped())
        .output()
        .unwrap();
    let secret = String::from_utf8(added.stdout).unwrap().trim().to_owned();

    let mut log = Log::default();
    let mut alive = Duration::ZERO;
    // A generator of one line: moments that no two runs of the loop share.
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..kills {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let moment = Duration::from_millis(20 + (random >> 33) % 500);
        let start = Instant::now();
        let requests = site.requests();
        let mut child = home.run();
        // Under load: from the first request on.
        let patience = start + Duration::from_secs(60);
        while site.requests() == requests && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(1));
        }
        let end = Instant::now() + moment;
        while Instant::now() < end {
            log.look(&home.store());
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        alive += start.elapsed();
        log.look(&home.store());
        log.check(&home.store(), &site);
    }
    let paid = alive.as_secs_f64() * RATE;
    let requests = site.requests() as f64;
    // A first start may make ten at once.
    assert!(requests <= paid + 11.0, "{requests} requests, {paid} paid for");

    // Nothing changes any more: in the end all copies are what their sources are.
    site.freeze();
    let mut child = home.run();
    let patience = Instant::now() + Duration::from_secs(120);
    loop {
        let stale = stale(&home.store(), &site);
        if stale.is_empty() {
            break;
        }
        assert!(Instant::now() < patience, "never fresh: {stale:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    // All that was ever logged has been told.
    let mut logged = || {
        log.look(&home.store());
        log.seen.keys().copied().collect::<Vec<i64>>()
    };
    while hook.cursors() != logged() {
        assert!(Instant::now() < patience, "not told of all: {:?}", hook.counts());
        std::thread::sleep(Duration::from_millis(20));
    }
    hook.check(&secret);
    let (came, failed) = hook.counts();
    println!("{} changes, {came} deliveries, {failed} of them refused", hook.cursors().len());
    let pid = i32::try_from(child.id()).unwrap().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(child.wait().unwrap().success());
    log.look(&home.store());
    log.check(&home.store(), &site);
    assert!(log.seen.len() > PAGES / 2, "only {} changes were seen at all", log.seen.len());
    let reader = Reader::open(&home.store()).unwrap();
    assert!(reader.check_integrity().unwrap().is_ok());
}

/// Sources whose copy is not what they are.
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
