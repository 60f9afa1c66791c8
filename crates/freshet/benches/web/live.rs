//! The whole daemon on the same server: fetched, read, compared, compressed, recorded durably.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use freshet_daemon::{Clock, ConcurrencySetting, Config, Daemon, Edit, NewSourceRequest};
use freshet_fetch::RawSettings;
use tokio::runtime::Runtime;

/// Sources: each is fetched a few times a second.
const SOURCES: usize = 4000;
/// Fetches a day: more than can be made.
const BUDGET: f64 = 1e11;

/// Changes a second that the daemon records.
pub(crate) fn live(
    runtime: &Runtime,
    address: SocketAddr,
    seconds: u64,
    connections: usize,
) -> Option<f64> {
    let folder = tempfile::tempdir().ok()?;
    let fetch = RawSettings { allow: vec!["127.0.0.1".to_owned()], ..RawSettings::default() };
    let connections = u32::try_from(connections).ok()?;
    let mut config = Config::plain(BUDGET, fetch).ok()?;
    config.gap = 0.0;
    config.connections = connections;
    config.crew = ConcurrencySetting::Fixed(connections);
    config.store = folder.path().join("freshet.db");
    config.retention.versions = 2;
    runtime.block_on(async {
        let start = Instant::now();
        let wall = move || 1_700_000_000_000 + start.elapsed().as_millis() as i64;
        let daemon = Daemon::start(config, Clock::new(Box::new(wall), 1.0)).ok()?;
        let handle = daemon.handle();
        let wanted =
            (0..SOURCES).map(|source| NewSourceRequest::new(format!("http://{address}/{source}")));
        handle.edit(Edit::Add(wanted.collect())).await.ok()?;
        // All have a copy, and most a second one: from then on all are changes.
        while handle.status().await.ok()?.changes < SOURCES as u64 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let (clock, before) = (Instant::now(), handle.status().await.ok()?.changes);
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let changes = handle.status().await.ok()?.changes - before;
        let rate = changes as f64 / clock.elapsed().as_secs_f64();
        daemon.stop().await;
        Some(rate)
    })
}
