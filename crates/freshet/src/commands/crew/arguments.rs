//! The command line of `freshet crew` as it is typed.

use std::path::PathBuf;

use clap::Args;

/// Tell how many fetchers should feed a bounded queue
///
/// Fetchers bring pages at random times, each at the same rate. One processor takes them from a queue
/// that holds so many; a page that finds it full is lost. There are two answers: the best fixed number,
/// and when to start one more fetcher by how many pages wait. The text goes to standard output, or one
/// object with --json.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The cost is G × (share of time in which the queue is empty) + (pages lost per unit of time). The
rates and G are in one unit of time of your choice.

Decisions are made when a page comes in (its fetcher stops, or is sent out again) and when one is
done (one more is started, or not). The second answer is the best of all such policies, and says how
far from the best it could be at most: the gap. With a large buffer the queue is practically never
empty or full, and many curves are as good: the search then ends early and says so (`ended_early`
with --json), and how many fetchers the curve starts tells nothing.

With --json, `curve` has for each number of active fetchers 0, 1, … the longest queue at which one
is started, both counted just before the event, -1 for never; `targets` has for each length of the
queue after the event the number of fetchers below which one is started. `dynamic` is null if it is
too large to be computed, `large_buffer_fetchers` if G is 0: its rule is for G above 0.

Examples:
  freshet crew --fetch-rate 0.05 --process-rate 1 --buffer 10 --starvation-weight 1.2
  freshet crew --fetch-rate 0.5 --process-rate 20 --buffer 100 --starvation-weight 5 \\
      --available 64 --svg crew.svg --json")]
pub(crate) struct CrewArguments {
    /// Pages that one active fetcher brings per unit of time
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    pub(crate) fetch_rate: f64,

    /// Pages that the processor takes per unit of time, while there are any
    #[arg(long, value_name = "M", allow_hyphen_values = true)]
    pub(crate) process_rate: f64,

    /// Pages that the queue holds, with the one in work
    #[arg(long, value_name = "K", allow_hyphen_values = true, value_parser = count)]
    pub(crate) buffer: u32,

    /// How many lost pages are as bad as an empty queue for one unit of time
    #[arg(long, value_name = "G", allow_hyphen_values = true)]
    pub(crate) starvation_weight: f64,

    /// Fetchers that there are [default: as many as are of use]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub(crate) available: Option<u32>,

    /// Write the picture of the switching curve to this file (`-` is standard output)
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Print the result as JSON on standard output
    #[arg(long)]
    pub(crate) json: bool,
}

/// A whole number, also as 1e6.
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
        for wrong in ["-1", "1.5", "many", "1e10", "inf", "NaN", ""] {
            assert!(count(wrong).is_err(), "{wrong}");
        }
    }
}
