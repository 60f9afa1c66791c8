//! How fast a webhook on loopback is told: `cargo bench -p freshet-notify`.

#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used, dead_code)]

#[path = "../tests/tell/home.rs"]
mod home;
#[path = "../tests/tell/receiver.rs"]
mod receiver;

use std::time::Instant;

use home::{Home, QUICK, hook};
use receiver::Receiver;

const ENTRIES: usize = 20_000;
const SINGLE: usize = 500;

#[tokio::main]
async fn main() {
    let (home, receiver) = (Home::new(QUICK).await, Receiver::good().await);
    let id = home.tell("hook", hook(&receiver.url)).await;
    home.pause(id, true).await;
    let some = [(0, "some words → other words"); 1000];
    for _ in 0..ENTRIES / some.len() {
        home.changes(&some).await;
    }
    let start = Instant::now();
    home.pause(id, false).await;
    while receiver.count() < ENTRIES / 100 {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let took = start.elapsed().as_secs_f64();
    println!("{ENTRIES} entries that waited, 100 at once: {:.0} entries/s", ENTRIES as f64 / took);

    let mut waits = Vec::new();
    for n in 0..SINGLE {
        let before = receiver.count();
        let start = Instant::now();
        home.change(0, "x").await;
        while receiver.count() == before {
            tokio::time::sleep(std::time::Duration::from_micros(200)).await;
        }
        waits.push(start.elapsed().as_secs_f64() * 1e3);
        assert!(n < SINGLE);
    }
    waits.sort_by(f64::total_cmp);
    let (half, most) = (waits[SINGLE / 2], waits[SINGLE * 99 / 100]);
    println!("one entry, from its writing to its arrival: median {half:.1} ms, 99 % {most:.1} ms");
    home.stop().await;
}
