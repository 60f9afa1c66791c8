//! The last two years of a trace in a minute, kept by a stand-in for the daemon: the web's measurement of
//! its copies, compared with the simulator's for the same seed.
//!
//! `cargo run --release -p freshet-demo --example trace -- FILE [SECONDS [SEED…]]`

#![allow(clippy::print_stdout)]

#[path = "../tests/web/stand_in.rs"]
mod stand_in;

use std::path::PathBuf;
use std::time::Duration;

use freshet_demo::{Client, Options, Show, Style, Window, World, run, simulated};
use freshet_sim::Distribution;
use freshet_tables::{Input, pages_beside, read_trace};

const DAYS: f64 = 730.0;
/// Default requests per day and page.
const BUDGET: f64 = 0.01;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = PathBuf::from(arguments.next().ok_or("say which trace")?);
    let mut numbers = arguments.filter_map(|it| it.parse::<u64>().ok());
    let seconds = numbers.next().unwrap_or(60);
    let pages = pages_beside(&path).map(Input::File);
    let history = read_trace(&Input::File(path), pages.as_ref(), false, &mut |_| {})?;
    let end = history.time_range().ok_or("the trace has no pages")?.end;
    let window = Window { start: end - DAYS * 86_400.0, days: DAYS };
    let seeds: Vec<u64> = numbers.collect();
    for seed in if seeds.is_empty() { vec![1] } else { seeds } {
        let world = World::recorded(seed, &history, window, Distribution::Zipf(1.0))?;
        let expected = simulated(&world, BUDGET, DAYS, 0.5 * DAYS)?;
        let options = Options {
            factor: DAYS * 86_400.0 / seconds as f64,
            budget: BUDGET,
            length: Some(Duration::from_secs(seconds)),
            lively: false,
            ..Options::new(world)
        };
        let mut out = std::io::sink();
        let mut show = Show::new(&mut out, Style::Silent);
        let finished = run(options, &mut show, std::future::pending(), stand_in::keep).await?;
        for (client, expected) in Client::ALL.into_iter().zip(expected) {
            println!(
                "seed {seed}, {:<13} {:>6} requests, second half {:.4}, simulated {expected:.4}",
                client.name(),
                finished.tally(client).requests,
                finished.settled_freshness(client),
            );
        }
    }
    Ok(())
}
