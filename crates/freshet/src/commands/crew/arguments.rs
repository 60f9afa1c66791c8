//! Command-line arguments of `freshet crew`.

use std::path::PathBuf;

use clap::Args;

/// Compute the optimal number of fetchers for a queue
///
/// Fetchers deliver pages at random times, each at the same rate, to a bounded queue that one processor
/// drains; a page that finds the queue full is lost. There are two answers: the best fixed number of
/// fetchers, and the switching curve, which starts one more fetcher depending on the queue length.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The cost is G × (share of time in which the queue is empty) + (pages lost per unit of time). All
rates and G use the same unit of time, which is your choice.

Decisions are made when a page arrives (its fetcher stops or continues) and when a page has been
processed (one more fetcher is started or not). The switching curve is the best of all such
policies, and its distance from the optimum is at most the reported gap. With a large buffer the
queue is practically never empty or full, and many curves are equally good: the search then ends
early and says so (`ended_early` with --json), and the number of fetchers of the curve is arbitrary.

With --json, `curve` contains for each number of active fetchers 0, 1, … the longest queue at which
one more is started, both counted just before the event, or -1 for never; `targets` contains for
each queue length after the event the number of fetchers below which one more is started. `dynamic`
is null if the problem is too large, and `large_buffer_fetchers` is null if G is 0.

Examples:
  freshet crew --fetch-rate 0.05 --process-rate 1 --buffer 10 --starvation-weight 1.2
  freshet crew --fetch-rate 0.5 --process-rate 20 --buffer 100 --starvation-weight 5 \\
      --available 64 --svg crew.svg --json")]
pub(crate) struct CrewArguments {
    /// Pages that one active fetcher delivers per unit of time
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    pub(crate) fetch_rate: f64,

    /// Pages that the processor handles per unit of time
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    pub(crate) process_rate: f64,

    /// Capacity of the queue in pages, including the page being processed
    #[arg(long, value_name = "K", allow_hyphen_values = true, value_parser = count)]
    pub(crate) buffer: u32,

    /// Cost of an empty queue for one unit of time, in lost pages
    #[arg(long, value_name = "G", allow_hyphen_values = true)]
    pub(crate) starvation_weight: f64,

    /// Number of available fetchers [default: as many as are useful]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub(crate) available: Option<u32>,

    /// Write an SVG chart of the switching curve to this file; `-` for stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses a whole number, also in the form 1e6.
fn count(text: &str) -> Result<u32, String> {
    let number: f64 = text.trim().parse().map_err(|_| "it is not a number".to_owned())?;
    if number < 0.0 {
        Err("it is negative".to_owned())
    } else if number.fract() != 0.0 {
        Err("it is not a whole number".to_owned())
    } else if number > f64::from(u32::MAX) {
        Err(format!("it is more than {}", u32::MAX))
    } else {
        Ok(number as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_whole_numbers() {
        assert_eq!((count("10"), count("1e6"), count("0")), (Ok(10), Ok(1_000_000), Ok(0)));
        for text in ["-1", "1.5", "many", "1e10", "inf", "NaN", ""] {
            assert!(count(text).is_err(), "{text}");
        }
    }
}
