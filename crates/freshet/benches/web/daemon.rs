//! The whole daemon on the same server: pages are fetched, parsed, compared, compressed and recorded
//! durably.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use freshet_daemon::{Clock, ConcurrencySetting, Config, Daemon, NewSourceRequest, SourceEdit};
use freshet_fetch::RawFetchSettings;
use tokio::runtime::Runtime;

/// Number of sources; each is fetched several times per second.
const SOURCES: usize = 4000;
/// Budget in fetches per day; higher than the possible rate.
const BUDGET: f64 = 1e11;

/// Returns the number of changes per second that the daemon records.
pub(crate) fn changes_per_second(
    runtime: &Runtime,
    address: SocketAddr,
    seconds: u64,
    connections: usize,
) -> Option<f64> {
    let folder = tempfile::tempdir().ok()?;
    let fetch =
        RawFetchSettings { allow: vec!["127.0.0.1".to_owned()], ..RawFetchSettings::default() };
    let connections = u32::try_from(connections).ok()?;
    let mut config = Config::with_budget(BUDGET, fetch).ok()?;
    config.host_gap_days = 0.0;
    config.host_connections = connections;
    config.fetch_concurrency = ConcurrencySetting::Fixed(connections);
    config.store = folder.path().join("freshet.db");
    config.retention.versions_per_source = 2;
    runtime.block_on(async {
        let start = Instant::now();
        let wall = move || 1_700_000_000_000 + start.elapsed().as_millis() as i64;
        let daemon = Daemon::start(config, Clock::new(Box::new(wall), 1.0)).ok()?;
        let handle = daemon.handle();
        let requests =
            (0..SOURCES).map(|source| NewSourceRequest::new(format!("http://{address}/{source}")));
        handle.edit(SourceEdit::Add(requests.collect())).await.ok()?;
        // When most sources have a second copy, nearly every fetch finds a change.
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
