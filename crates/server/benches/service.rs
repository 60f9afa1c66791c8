//! Throughput of claims, reports, pages and the stream with a million sources, relative to a
//! trivial route under the same load: `cargo bench -p freshet-server`, or with another number of
//! sources: `cargo bench -p freshet-server --bench service -- 100000`.

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, missing_docs)]

#[path = "shared/client.rs"]
mod client;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::routing::get;
use freshet_daemon::{Clock, Config, Daemon};
use freshet_server::{Server, ServerSettings};
use freshet_store::Store;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use self::client::{Client, fill_store, now_millis, parse_claim, reports_json};

/// Number of concurrent connections.
const CLIENTS: usize = 32;
/// Duration of each measurement.
const MEASUREMENT_TIME: Duration = Duration::from_secs(5);
const FOLLOWERS: usize = 1000;

/// Returns the path of the n-th request.
type Path = Box<dyn Fn(u64) -> String>;

/// Returns the units of work per second of some clients.
async fn rate<W, F>(address: SocketAddr, clients: usize, work: W) -> f64
where
    W: Fn(Client, Instant, Arc<AtomicU64>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let done = Arc::new(AtomicU64::new(0));
    let start = Instant::now();
    let tasks = (0..clients).map(|_| {
        let (work, done) = (work.clone(), Arc::clone(&done));
        tokio::spawn(async move {
            work(Client::new(address).await, start + MEASUREMENT_TIME, done).await
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    done.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64()
}

/// Serves a route that only returns "ok".
async fn start_trivial_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router: axum::Router = axum::Router::new().route("/", get(async || "ok"));
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let service = TowerToHyperService::new(router.clone());
            tokio::spawn(async move {
                let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    address
}

/// Claims and reports `max` sources at a time. Returns the sources claimed and reported per
/// second, the sources per second of claiming alone, and per second of reporting alone.
async fn crawl(address: SocketAddr, clients: usize, max: usize) -> [f64; 3] {
    let times = Arc::new([const { AtomicU64::new(0) }; 3]);
    let recorded_times = Arc::clone(&times);
    let both = rate(address, clients, move |mut client, end, done| {
        let times = Arc::clone(&recorded_times);
        async move {
            let body = format!("{{\"max\":{max},\"lease_seconds\":600}}");
            while Instant::now() < end {
                let start = Instant::now();
                let (lease, ids) = parse_claim(&client.ask("POST", "/v1/claims", &body).await);
                let claimed = start.elapsed();
                if ids.is_empty() {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    continue;
                }
                let text = reports_json(&lease, &ids);
                let start = Instant::now();
                client.ask("POST", "/v1/reports", &text).await;
                let reported = start.elapsed();
                let count = ids.len() as u64;
                done.fetch_add(count, Ordering::Relaxed);
                times[0].fetch_add(count, Ordering::Relaxed);
                times[1].fetch_add(claimed.as_nanos() as u64, Ordering::Relaxed);
                times[2].fetch_add(reported.as_nanos() as u64, Ordering::Relaxed);
            }
        }
    });
    let both = both.await;
    let number = |at: usize| times[at].load(Ordering::Relaxed) as f64;
    // The part of the clients' total time that was spent on each.
    let each = |nanos: f64| number(0) * clients as f64 / (nanos / 1e9);
    [both, each(number(1)), each(number(2))]
}

/// Returns the median and the 99th percentile of response times, in milliseconds.
async fn pages(client: &mut Client, path: impl Fn(u64) -> String) -> (f64, f64) {
    let mut times = Vec::new();
    for n in 0..200 {
        let path = path(n * 7919);
        let start = Instant::now();
        client.ask("GET", &path, "").await;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    (times[100], times[197])
}

async fn follow(address: SocketAddr, received: Arc<AtomicU64>) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("GET /v1/changes/stream HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut bytes = [0; 1024];
    let mut text = String::new();
    while !text.contains(": beat") {
        let count = stream.read(&mut bytes).await.unwrap();
        text.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    received.fetch_add(1, Ordering::Relaxed);
    tokio::spawn(async move {
        const MARK: &[u8] = b"event:";
        let mut bytes = vec![0; 64 << 10];
        // A mark may be split between two reads.
        let mut kept = 0;
        while let Ok(count @ 1..) = stream.read(&mut bytes[kept..]).await {
            let end = kept + count;
            let events = bytes[..end].windows(MARK.len()).filter(|it| *it == MARK).count();
            received.fetch_add(events as u64, Ordering::Relaxed);
            kept = end.min(MARK.len() - 1);
            bytes.copy_within(end - kept..end, 0);
        }
    });
}

async fn stream(address: SocketAddr) -> (f64, u64) {
    let received = Arc::new(AtomicU64::new(0));
    for _ in 0..FOLLOWERS {
        follow(address, Arc::clone(&received)).await;
    }
    received.store(0, Ordering::Relaxed);
    let mut client = Client::new(address).await;
    let (lease, ids) = parse_claim(&client.ask("POST", "/v1/claims", "{\"max\":1000}").await);
    let text = reports_json(&lease, &ids).replace("unchanged", "changed");
    let start = Instant::now();
    client.ask("POST", "/v1/reports", &text).await;
    let expected = ids.len() as u64 * FOLLOWERS as u64;
    while received.load(Ordering::Relaxed) < expected {
        assert!(start.elapsed() < Duration::from_secs(120), "{received:?} of {expected}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    (start.elapsed().as_secs_f64(), expected)
}

fn main() {
    let argument = std::env::args().skip(1).find_map(|it| it.parse().ok());
    let sources: u32 = argument.unwrap_or(1_000_000);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(run(sources));
    runtime.shutdown_background();
}

async fn run(sources: u32) {
    let folder = tempfile::tempdir().unwrap();
    let text = "concurrency = 0\nbudget = \"100000/s\"\nburst = 10000000\n[hosts]\ngap = \"0s\"\nconnections = 1000\n";
    let config = Config::parse(text, &folder.path().join("freshet.toml")).unwrap();
    let start = Instant::now();
    fill_store(&mut Store::open(&config.store, now_millis()).unwrap(), sources);
    println!("{sources} sources, filled in {:.1} s", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let daemon = Daemon::start(config, Clock::new(Box::new(now_millis), 1.0)).unwrap();
    let server =
        Server::start(daemon.handle(), ServerSettings::new("127.0.0.1:0".parse().unwrap()));
    let server = server.await.unwrap();
    let address = server.address();
    let mut client = Client::new(address).await;
    while parse_claim(&client.ask("POST", "/v1/claims", "{\"max\":1,\"lease_seconds\":1}").await)
        .1
        .is_empty()
    {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    println!("started, with something to claim, in {:.1} s", start.elapsed().as_secs_f64());

    let trivial = start_trivial_server().await;
    let ok = rate(trivial, CLIENTS, |mut client, end, done| async move {
        while Instant::now() < end {
            client.ask("GET", "/", "").await;
            done.fetch_add(1, Ordering::Relaxed);
        }
    });
    let ok = ok.await;
    println!(
        "\n{:<44} {:>12} {:>10}",
        "per second, and relative to the trivial route", "", "ratio"
    );
    let line = |label: &str, rate: f64| println!("{label:<44} {rate:>12.0} {:>10.2}", rate / ok);
    line("requests to the trivial route", ok);
    let health = rate(address, CLIENTS, |mut client, end, done| async move {
        while Instant::now() < end {
            client.ask("GET", "/healthz", "").await;
            done.fetch_add(1, Ordering::Relaxed);
        }
    });
    line("requests to /healthz", health.await);
    for (clients, max) in [(4, 1000), (CLIENTS, 10), (512, 1)] {
        let [both, claims, reports] = crawl(address, clients, max).await;
        line(&format!("claims and reports, {max} at a time"), both);
        line("  claims alone", claims);
        line("  reports alone", reports);
    }

    println!("\n{:<44} {:>12} {:>10}", "pages of 100, in milliseconds", "median", "99 %");
    let end = u64::from(sources);
    let cases: [(&str, Path); 7] = [
        ("all sources", Box::new(move |n| format!("/v1/sources?after={}", n % end))),
        ("with a tag", Box::new(|_| "/v1/sources?tag=rare".to_owned())),
        ("of a host", Box::new(|n| format!("/v1/sources?host=host-{}.example", n % 20_000))),
        ("in a rare state", Box::new(|_| "/v1/sources?state=failing".to_owned())),
        ("in a state that all are in", Box::new(|_| "/v1/sources?state=new".to_owned())),
        ("with a text that no URL contains", Box::new(|_| "/v1/sources?text=nowhere".to_owned())),
        ("hosts", Box::new(|n| format!("/v1/hosts?after={}", n % 20_000))),
    ];
    for (label, path) in cases {
        let (median, slow) = pages(&mut client, path).await;
        println!("{label:<44} {median:>12.2} {slow:>10.2}");
    }
    let (seconds, events) = stream(address).await;
    println!("\n{FOLLOWERS} clients received {events} events in {seconds:.2} s");
    line("events sent to clients", events as f64 / seconds);
    server.stop().await;
    daemon.stop().await;
}
