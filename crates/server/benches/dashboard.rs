//! Response times of every dashboard page with a million sources, in milliseconds, beside those
//! with one source in the same run: `cargo bench -p freshet-server --bench dashboard`, or with
//! another number of sources: `cargo bench -p freshet-server --bench dashboard -- 100000`.

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, missing_docs)]

#[path = "shared/client.rs"]
mod client;

use std::time::Instant;

use freshet_daemon::{Clock, Config, Daemon};
use freshet_server::{Server, ServerSettings};
use freshet_store::Store;

use self::client::{Client, fill_store, now_millis, parse_claim, reports_json};

/// Requests for each page after the first.
const REPETITIONS: usize = 20;
/// Rounds of claims and reports before the measurement, of a thousand sources each; half of the
/// reports are changes.
const ROUNDS: usize = 40;

const PAGES: &[&str] = &[
    "/",
    "/?span=year",
    "/what-if",
    "/what-if?budget=5000000&goal=90",
    "/sources",
    "/sources?sort=importance",
    "/sources?sort=belief",
    "/sources?sort=next",
    "/sources?sort=value",
    "/sources?tag=rare&sort=value",
    "/sources?host=host-0.example",
    "/sources?text=nowhere",
    "/sources?state=new",
    "/sources/add",
    "/sources/0",
    "/changes",
    "/changes?tag=nowhere",
    "/hosts",
    "/hosts?all=1",
    "/hosts?name=host-0.example",
    "/settings",
];

fn main() {
    let argument = std::env::args().skip(1).find_map(|it| it.parse().ok());
    let sources: u32 = argument.unwrap_or(1_000_000);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run(sources));
    runtime.shutdown_background();
}

async fn run(sources: u32) {
    let [baseline, times] = [measure(1).await, measure(sources).await];
    println!(
        "\n{:<36} {:>10} {:>10} {:>10} {:>10}",
        "milliseconds", "first", "median", "longest", "1 source"
    );
    let mut worst: f64 = 0.0;
    for (path, (one, all)) in PAGES.iter().zip(baseline.iter().zip(&times)) {
        let [first, median, longest] = *all;
        worst = worst.max(first).max(longest);
        println!("{path:<36} {first:>10.1} {median:>10.1} {longest:>10.1} {:>10.1}", one[1]);
    }
    println!("longest of all: {worst:.1} ms");
}

/// Measures the first, the median and the longest time of each page.
async fn measure(sources: u32) -> Vec<[f64; 3]> {
    let folder = tempfile::tempdir().unwrap();
    let text = "concurrency = 0\nbudget = \"5000000/day\"\nburst = 1000000\n[hosts]\ngap = \"1s\"\nconnections = 1000\n";
    let config = Config::parse(text, &folder.path().join("freshet.toml")).unwrap();
    fill_store(&mut Store::open(&config.store, now_millis()).unwrap(), sources);
    let daemon = Daemon::start(config, Clock::new(Box::new(now_millis), 1.0)).unwrap();
    let settings = ServerSettings::new("127.0.0.1:0".parse().unwrap());
    let server = Server::start(daemon.handle(), settings).await.unwrap();
    let mut client = Client::new(server.address()).await;
    for _ in 0..ROUNDS {
        let claim = client.ask("POST", "/v1/claims", "{\"max\":1000,\"lease_seconds\":60}").await;
        let (lease, ids) = parse_claim(&claim);
        if ids.is_empty() {
            continue;
        }
        let (odd, even): (Vec<_>, Vec<_>) = ids.into_iter().partition(|id| id % 2 == 1);
        client.ask("POST", "/v1/reports", &reports_json(&lease, &even)).await;
        let changed = reports_json(&lease, &odd).replace("unchanged", "changed");
        client.ask("POST", "/v1/reports", &changed).await;
    }
    let mut all = Vec::new();
    for path in PAGES {
        let mut times = Vec::new();
        for _ in 0..=REPETITIONS {
            let start = Instant::now();
            client.ask("GET", path, "").await;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let first = times.remove(0);
        times.sort_by(f64::total_cmp);
        all.push([first, times[REPETITIONS / 2], times[REPETITIONS - 1]]);
    }
    server.stop().await;
    daemon.stop().await;
    all
}
