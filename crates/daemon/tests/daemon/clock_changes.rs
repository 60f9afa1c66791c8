//! A wall clock that is set while the daemon runs, and between two runs.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use freshet_daemon::{Clock, Daemon};
use freshet_store::ChangeFilter;
use tokio::time::Instant;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::test_site::{Home, Site, add, until};

const HOUR: i64 = 3_600_000;

/// Records the warnings of this process.
struct Warnings;

static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl Visit for Warnings {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            WARNINGS.lock().unwrap().push(format!("{value:?}"));
        }
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut Warnings);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn was_logged(what: &str) -> bool {
    WARNINGS.lock().unwrap().iter().any(|it| it.contains(what))
}

/// A wall clock that can be set.
fn wall(shift: &Arc<AtomicI64>) -> Clock {
    static START: OnceLock<Instant> = OnceLock::new();
    let at = *START.get_or_init(Instant::now);
    let shift = Arc::clone(shift);
    let wall =
        move || 1_700_000_000_000 + at.elapsed().as_millis() as i64 + shift.load(Ordering::Relaxed);
    Clock::new(Box::new(wall), 1.0)
}

#[tokio::test(flavor = "multi_thread")]
async fn setting_the_clock_causes_no_burst_no_stall_and_no_negative_time() {
    // No other test of this process reads the warnings.
    let _ = tracing::subscriber::set_global_default(Warnings);
    let site = Site::start().await;
    // Ten fetches a second for sources that all deserve more: all are overdue all the time.
    let mut home =
        Home::new("budget = \"864000/day\"\nburst = 10000\n[hosts]\ngap = \"0s\"\n", 1.0);
    home.fetch = "robots = false".to_owned();
    let pages = 40;
    let mut round = 0;
    let mut change = || {
        round += 1;
        (0..pages).for_each(|page| site.set(&format!("/{page}"), &format!("version {round}")));
    };
    change();
    let shift = Arc::new(AtomicI64::new(0));
    let start = || Daemon::start(home.config(), wall(&shift)).unwrap();
    let started_at = Instant::now();
    let daemon = start();
    add(&daemon, (0..pages).map(|page| site.request(&format!("/{page}"))).collect()).await;
    let fetches = || site.fetches().values().sum::<usize>();
    until("all have a copy", || site.fetches().len() == pages).await;

    change();
    shift.fetch_sub(HOUR, Ordering::Relaxed);
    until("the warning is logged", || was_logged("set back: the daemon keeps its own time")).await;
    let before = fetches();
    until("fetching continues", || fetches() > before + 20).await;

    change();
    let before = fetches();
    shift.fetch_add(25 * HOUR, Ordering::Relaxed);
    until("the warning is logged", || was_logged("set forward")).await;
    until("fetching continues", || fetches() > before + 20).await;
    // Everything paid for since the start; some fetches may have had to wait.
    let fetched = fetches();
    let paid = 10.0 * started_at.elapsed().as_secs_f64();
    assert!(fetched as f64 <= paid + 15.0, "{fetched} of {paid}");
    daemon.stop().await;

    // Set back between two runs: hosts and sources do not wait until the clock has caught up.
    change();
    shift.fetch_sub(24 * HOUR, Ordering::Relaxed);
    let daemon = start();
    assert!(was_logged("since the last run"));
    let before = fetches();
    until("fetching continues", || fetches() > before + 20).await;
    daemon.stop().await;

    let changes = home.reader().changes(0, 10_000, &ChangeFilter::default()).unwrap();
    assert!(!changes.is_empty());
    for it in changes {
        assert!(
            it.change.last_unchanged_at.is_none_or(|then| then <= it.change.first_changed_at),
            "{it:?}"
        );
    }
}
