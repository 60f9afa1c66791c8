//! Throughput for pages of 10 KB from a server on loopback, compared with the load generator `wrk`
//! on the same server with as many connections.
//!
//! `cargo bench -p freshet-fetch --bench fetch [-- SECONDS [CONNECTIONS]]`

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::convert::Infallible;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use freshet_fetch::{FetchOutcome, FetchRequest, Fetcher, RawFetchSettings};
use http_body_util::Full;
use hyper::Response;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

const PAGE: usize = 10_000;

fn runtime(threads: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(threads).enable_all().build().unwrap()
}

/// Starts a server whose pages are all different.
fn serve(runtime: &Runtime) -> SocketAddr {
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move {
        let number = Arc::new(AtomicU64::new(0));
        while let Ok((stream, _)) = listener.accept().await {
            let number = Arc::clone(&number);
            let service = service_fn(move |_| {
                let number = number.fetch_add(1, Ordering::Relaxed);
                let mut page = format!("<html><p>{number}</p>").into_bytes();
                page.resize(PAGE, b'x');
                async { Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(page)))) }
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    address
}

/// Returns the number of pages that freshet fetches per second.
fn freshet_rate(address: SocketAddr, seconds: u64, connections: usize) -> f64 {
    let raw =
        RawFetchSettings { allow: vec!["127.0.0.1".to_owned()], ..RawFetchSettings::default() };
    let fetcher = Fetcher::new(raw.try_into().unwrap());
    let runtime = runtime(2);
    let start = Instant::now();
    let end = start + Duration::from_secs(seconds);
    let tasks: Vec<_> = (0..connections)
        .map(|task| {
            let fetcher = fetcher.clone();
            runtime.spawn(async move {
                let mut pages = 0_u64;
                while Instant::now() < end {
                    let url = format!("http://{address}/{task}/{pages}");
                    let result = fetcher.fetch(&FetchRequest::new(&url).unwrap()).await;
                    match result.outcome {
                        FetchOutcome::Content(content) => {
                            assert_eq!(content.body.len(), PAGE)
                        }
                        other => panic!("{other:?}"),
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

/// Returns the number of requests that `wrk` sends per second, if it is installed.
fn wrk_rate(address: SocketAddr, seconds: u64, connections: usize) -> Option<f64> {
    let output = Command::new("wrk")
        .args(["-t", "2", "-c", &connections.to_string(), "-d", &format!("{seconds}s")])
        .arg(format!("http://{address}/"))
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("Requests/sec:"))?.trim().parse().ok()
}

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|it| it.parse::<usize>().ok());
    let seconds = numbers.next().unwrap_or(5) as u64;
    let connections = numbers.next().unwrap_or(64);
    let server = runtime(2);
    let address = serve(&server);
    println!(
        "pages of {PAGE} bytes a second, {connections} connections, {seconds} s each, in turns"
    );
    let mut ratios = Vec::new();
    for _ in 0..3 {
        let freshet = freshet_rate(address, seconds, connections);
        match wrk_rate(address, seconds, connections) {
            Some(other) => {
                ratios.push(other / freshet);
                println!(
                    "freshet {freshet:>8.0}   wrk {other:>8.0}   ratio {:.2}",
                    other / freshet
                );
            }
            None => println!("freshet {freshet:>8.0}   (wrk is not installed)"),
        }
    }
    ratios.sort_by(f64::total_cmp);
    if let Some(median) = ratios.get(ratios.len() / 2) {
        println!("median ratio {median:.2}");
    }
}
