//! Measures deliveries to a webhook on loopback: `cargo bench -p freshet-notify`.

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, dead_code)]

#[path = "../tests/notify/receiver.rs"]
mod receiver;
#[path = "../tests/notify/test_daemon.rs"]
mod test_daemon;

use std::time::Instant;

use receiver::Receiver;
use test_daemon::{FAST_RETRIES, TestDaemon, webhook};

const ENTRIES: usize = 20_000;
const SINGLE: usize = 500;

#[tokio::main]
async fn main() {
    let (daemon, receiver) = (TestDaemon::new(FAST_RETRIES).await, Receiver::accepting().await);
    let id = daemon.add_destination("hook", webhook(&receiver.url)).await;
    daemon.pause(id, true).await;
    let some = [(0, "some words → other words"); 1000];
    for _ in 0..ENTRIES / some.len() {
        daemon.log_changes(&some).await;
    }
    let start = Instant::now();
    daemon.pause(id, false).await;
    while receiver.count() < ENTRIES / 100 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let elapsed = start.elapsed().as_secs_f64();
    println!(
        "{ENTRIES} waiting entries, 100 per message: {:.0} entries/s",
        ENTRIES as f64 / elapsed
    );

    let mut delays = Vec::new();
    for n in 0..SINGLE {
        let before = receiver.count();
        let start = Instant::now();
        daemon.log_change(0, "x").await;
        while receiver.count() == before {
            tokio::time::sleep(std::time::Duration::from_micros(200)).await;
        }
        delays.push(start.elapsed().as_secs_f64() * 1e3);
        assert!(n < SINGLE);
    }
    delays.sort_by(f64::total_cmp);
    let (median, p99) = (delays[SINGLE / 2], delays[SINGLE * 99 / 100]);
    println!("one entry, from the log to the receiver: median {median:.1} ms, 99 % {p99:.1} ms");
    daemon.stop().await;
}
