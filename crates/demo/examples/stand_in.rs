//! The demo with a stand-in for the daemon: does the ordering hold on these seeds?
//!
//! `cargo run --release -p freshet-demo --example stand_in [-- SECONDS [SEED…]]`

#![allow(clippy::print_stdout)]

#[path = "../tests/web/stand_in.rs"]
mod stand_in;

use std::io::IsTerminal;
use std::time::Duration;

use freshet_demo::{Options, Show, Style, World, run};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).filter_map(|it| it.parse::<u64>().ok());
    let seconds = numbers.next().unwrap_or(60);
    let seeds: Vec<u64> = numbers.collect();
    for seed in if seeds.is_empty() { vec![1] } else { seeds } {
        let world = World::made(seed, Options::PAGES)?;
        let length = Some(Duration::from_secs(seconds));
        let mut out = std::io::stdout();
        let style = if out.is_terminal() { Style::Redrawn } else { Style::Silent };
        let mut show = Show::new(&mut out, style);
        let options = Options { length, ..Options::new(world) };
        let finished = run(options, &mut show, std::future::pending(), stand_in::keep).await?;
        println!("seed {seed}: {}{}", finished.summary(), finished.to_json()?);
    }
    Ok(())
}
