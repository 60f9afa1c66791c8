//! Throughput of fetching and parsing different pages of 10 KB from a server on loopback. For comparison:
//! the load generator `wrk` on the same server with as many connections, Scrapy with the same work
//! (`spider.py`), if they are installed, and the whole daemon, which also compares each page with its
//! previous version, summarizes the change, compresses the page and records it durably.
//!
//! `cargo bench -p freshet --bench web [-- SECONDS [CONNECTIONS]]`, with `FRESHET_SCRAPY` as the path of
//! `scrapy` if it is not on the `PATH`.

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, missing_docs)]

mod daemon;
mod page;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use freshet_detect::{Detector, Document};
use freshet_fetch::{FetchOutcome, FetchRequest, Fetcher, RawFetchSettings};
use http_body_util::Full;
use hyper::Response;
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use page::Pages;

fn runtime(threads: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(threads).enable_all().build().unwrap()
}

/// Starts a server whose pages are never the same twice and which has no robots.txt.
fn serve(runtime: &Runtime) -> SocketAddr {
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move {
        let (number, pages) = (Arc::new(AtomicU64::new(0)), Arc::new(Pages::new()));
        while let Ok((stream, _)) = listener.accept().await {
            let (number, pages) = (Arc::clone(&number), Arc::clone(&pages));
            let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
                let is_page = request.uri().path() != "/robots.txt";
                let page = pages.page(number.fetch_add(1, Ordering::Relaxed));
                let mut response = Response::new(Full::new(Bytes::from(page)));
                response.headers_mut().insert(CONTENT_TYPE, "text/html".parse().unwrap());
                if !is_page {
                    *response.status_mut() = hyper::StatusCode::NOT_FOUND;
                }
                async { Ok::<_, Infallible>(response) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    address
}

/// Returns the number of pages per second that freshet fetches, and optionally parses.
fn freshet_rate(address: SocketAddr, seconds: u64, connections: usize, read: bool) -> f64 {
    let raw =
        RawFetchSettings { allow: vec!["127.0.0.1".to_owned()], ..RawFetchSettings::default() };
    let fetcher = Fetcher::new(raw.try_into().unwrap());
    let detector = Arc::new(Detector::default());
    let runtime = runtime(2);
    let start = Instant::now();
    let end = start + Duration::from_secs(seconds);
    let tasks: Vec<_> = (0..connections)
        .map(|task| {
            let (fetcher, detector) = (fetcher.clone(), Arc::clone(&detector));
            runtime.spawn(async move {
                let (mut pages, mut before) = (0_u64, None);
                while Instant::now() < end {
                    let url = format!("http://{address}/{task}/{pages}");
                    let answer = fetcher.fetch(&FetchRequest::new(&url).unwrap()).await;
                    let FetchOutcome::Content(content) = answer.outcome else {
                        panic!("{answer:?}")
                    };
                    if read {
                        let charset = content.charset();
                        let mut document = Document::new(&content.body);
                        document.content_type = content.media_type.as_deref();
                        document.charset = Some(charset.name());
                        let reading = detector.extract(&document);
                        assert!((500..9000).contains(&reading.text.len()));
                        let now = Some(reading.digests.fingerprint);
                        assert_ne!(now, before);
                        before = now;
                    }
                    pages += 1;
                }
                pages
            })
        })
        .collect();
    let pages: u64 = tasks.into_iter().map(|task| runtime.block_on(task).unwrap()).sum();
    pages as f64 / start.elapsed().as_secs_f64()
}

/// Returns the number of pages per second that one core parses, without fetching them.
fn parse_rate(seconds: u64) -> f64 {
    let (detector, pages) = (Detector::default(), Pages::new());
    let start = Instant::now();
    let mut number = 0;
    while start.elapsed() < Duration::from_secs(seconds) {
        for _ in 0..100 {
            let page = pages.page(number);
            let mut document = Document::new(page.as_bytes());
            document.content_type = Some("text/html");
            document.charset = Some("utf-8");
            std::hint::black_box(detector.extract(&document));
            number += 1;
        }
    }
    number as f64 / start.elapsed().as_secs_f64()
}

/// Returns the number of requests per second of `wrk`, if it is installed.
fn wrk_rate(address: SocketAddr, seconds: u64, connections: usize) -> Option<f64> {
    let output = Command::new("wrk")
        .args(["-t", "2", "-c", &connections.to_string(), "-d", &format!("{seconds}s")])
        .arg(format!("http://{address}/"))
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("Requests/sec:"))?.trim().parse().ok()
}

/// Returns the number of pages per second that Scrapy fetches and parses, if it is installed, without the
/// time of its startup.
fn scrapy_rate(address: SocketAddr, seconds: u64, connections: usize) -> Option<f64> {
    let program = std::env::var("FRESHET_SCRAPY").unwrap_or_else(|_| "scrapy".to_owned());
    let spider = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/web/spider.py");
    let output = Command::new(program)
        .args(["runspider", spider, "-a", &format!("url=http://{address}/")])
        .args(["-a", &format!("seconds={seconds}"), "-a", &format!("connections={connections}")])
        .args(["-s", &format!("CONCURRENT_REQUESTS={connections}")])
        .args(["-s", &format!("CONCURRENT_REQUESTS_PER_DOMAIN={connections}")])
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("pages a second:"))?.trim().parse().ok()
}

/// Returns the processor time in seconds of this process and of the child processes that it waited for.
/// Linux reports it in hundredths of a second (proc_pid_stat(5), fields 14 to 17).
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    fields
        .get(11..15)?
        .iter()
        .map(|it| it.parse::<f64>().ok())
        .sum::<Option<f64>>()
        .map(|it| it / 100.0)
}

/// Returns a rate, and the processor time per item in microseconds.
fn measure(rate: impl FnOnce() -> Option<f64>) -> (Option<f64>, Option<f64>) {
    let (clock, before) = (Instant::now(), processor_seconds());
    let rate = rate();
    let used = before.and_then(|before| Some(processor_seconds()? - before));
    let each = |rate: f64| Some(used? / (rate * clock.elapsed().as_secs_f64()) * 1e6);
    (rate, rate.and_then(each))
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|it| it.parse::<usize>().ok());
    let seconds = numbers.next().unwrap_or(5) as u64;
    let connections = numbers.next().unwrap_or(64);
    let server = runtime(2);
    let address = serve(&server);
    let shown = |rate: Option<f64>| rate.map_or("–".to_owned(), |it| format!("{it:.0}"));
    let ratio = |of: Option<f64>| of.map_or("–".to_owned(), |it| format!("{it:.2}"));
    println!(
        "pages of {} bytes per second, {connections} connections, {seconds} s each, in turns; below, the \
         processor time per page including the server's, in µs",
        Pages::new().page(0).len()
    );
    println!("parsing only, on one core: {:.0}", parse_rate(seconds));
    let names = ["freshet", "no parsing", "daemon", "wrk", "scrapy"];
    let ratios = ["wrk / freshet", "freshet / daemon", "freshet / scrapy"];
    println!("{} {}", row(&names, 10), row(&ratios, 16));
    let daemon_runtime = runtime(2);
    let mut of = [const { Vec::new() }; 4];
    for _ in 0..3 {
        let (own, own_time) = measure(|| Some(freshet_rate(address, seconds, connections, true)));
        let (other, other_time) = measure(|| wrk_rate(address, seconds, connections));
        let (whole, whole_time) =
            measure(|| daemon::changes_per_second(&daemon_runtime, address, seconds, connections));
        let (fetched, fetched_time) =
            measure(|| Some(freshet_rate(address, seconds, connections, false)));
        let (spider, spider_time) = measure(|| scrapy_rate(address, seconds, connections));
        let quotient = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a / b);
        let rates = [own, fetched, whole, other, spider].map(shown);
        let times = [own_time, fetched_time, whole_time, other_time, spider_time].map(shown);
        let quotients = [quotient(other, own), quotient(own, whole), quotient(own, spider)];
        let of_time = quotient(own_time, other_time);
        println!("{} {}", row(&rates, 10), row(&quotients.map(ratio), 16));
        println!("{} {}", row(&times, 10), row(&[ratio(of_time)], 16));
        let [of_wrk, of_daemon, of_scrapy, times] = &mut of;
        of_wrk.extend(quotients[0]);
        of_daemon.extend(quotients[1]);
        of_scrapy.extend(quotients[2]);
        times.extend(of_time);
    }
    let [of_wrk, of_daemon, of_scrapy, times] = of.map(median).map(ratio);
    println!("{:<54} {}", "medians:", row(&[of_wrk, of_daemon, of_scrapy], 16));
    println!("{:<54} {}", "of processor time:", row(&[times], 16));
}

/// Formats cells of a fixed width side by side.
fn row(cells: &[impl AsRef<str>], width: usize) -> String {
    let cells: Vec<String> = cells.iter().map(|it| format!("{:>width$}", it.as_ref())).collect();
    cells.join(" ")
}
