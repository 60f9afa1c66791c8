//! `freshet crew`.

mod arguments;
mod picture;
mod report;
mod summary;

use std::path::Path;
use std::time::Duration;

use freshet_crew::{
    CrewError, Dynamic, Fixed, Setting, best_fixed, large_buffer_rule, solve_watched,
};
use freshet_tables::write_atomic;

pub(crate) use crate::commands::crew::arguments::CrewArguments;

use crate::clock::timed;
use crate::failure::Failure;
use crate::number::format_significant;
use crate::output::{check_file, print_json, print_text};
use crate::progress::Progress;

/// Number of fetchers: the problem and both solutions.
pub(crate) struct CrewSolution<'a> {
    pub(crate) arguments: &'a CrewArguments,
    pub(crate) setting: Setting,
    /// Best fixed number of fetchers.
    pub(crate) fixed: Fixed,
    /// Number of fetchers by the rule for large buffers. The rule requires a starvation weight above 0;
    /// without one, a single fetcher is best for any buffer.
    pub(crate) large_buffer_fetchers: Option<u64>,
    /// Best switching curve, or the reason why there is none.
    pub(crate) dynamic: Result<Dynamic, CrewError>,
    pub(crate) solve_time: Duration,
}

pub(crate) fn run(arguments: &CrewArguments) -> Result<(), Failure> {
    let to_stdout = arguments.svg.as_deref() == Some(Path::new("-"));
    if arguments.json && to_stdout {
        return Err(Failure::new("only one of --json and --svg - can use standard output")
            .with_hint("write the chart to a file: --svg crew.svg"));
    }
    if let Some(svg) = arguments.svg.as_deref().filter(|_| !to_stdout) {
        check_file(svg)?;
    }
    let crew = solve(arguments)?;
    if let Some(svg) = &arguments.svg {
        let dynamic = crew.dynamic.as_ref().map_err(|error| failure(error, arguments))?;
        let picture = picture::svg(&crew, dynamic);
        if to_stdout {
            return print_text(&picture);
        }
        write_atomic(svg, |out| out.write_all(picture.as_bytes()))?;
    }
    if arguments.json {
        print_json(&report::CrewReport::new(&crew))
    } else {
        print_text(&summary::text(&crew))
    }
}

fn solve(arguments: &CrewArguments) -> Result<CrewSolution<'_>, Failure> {
    let failed = |error: CrewError| failure(&error, arguments);
    let CrewArguments { fetch_rate, process_rate, buffer, starvation_weight, available, .. } =
        *arguments;
    let setting =
        Setting::new(fetch_rate, process_rate, buffer, starvation_weight).map_err(failed)?;
    let fixed = best_fixed(&setting, available).map_err(failed)?;
    let mut progress = Progress::new("solving");
    let (dynamic, solve_time) = timed(|| {
        solve_watched(&setting, available, &mut |curves, cost| {
            progress.report(None, &format!("curve {curves}, cost {}", format_significant(cost)));
        })
    });
    drop(progress);
    let large_buffer_fetchers = (starvation_weight > 0.0).then(|| large_buffer_rule(&setting));
    Ok(CrewSolution { arguments, setting, fixed, large_buffer_fetchers, dynamic, solve_time })
}

/// Describes why there is no solution, with a hint.
fn failure(error: &CrewError, arguments: &CrewArguments) -> Failure {
    let failure = Failure::new(error);
    match hint(error, arguments) {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// Returns a hint for an error.
pub(crate) fn hint(error: &CrewError, arguments: &CrewArguments) -> Option<String> {
    Some(match error {
        CrewError::FetchRate(_) => {
            "give the number of pages that one fetcher delivers per unit of time, such as \
             `--fetch-rate 0.05`"
                .to_owned()
        }
        CrewError::ProcessRate(_) => {
            "give the number of pages that are processed per unit of time, such as `--process-rate 1`"
                .to_owned()
        }
        CrewError::StarvationWeight(_) => {
            "give the cost of an empty queue for one unit of time in lost pages, such as \
             `--starvation-weight 1`"
                .to_owned()
        }
        CrewError::Apart { .. } => {
            "give both rates and the weight in the same unit of time".to_owned()
        }
        CrewError::NoRoom => {
            "include the page being processed: `--buffer 1` has room for no other page".to_owned()
        }
        CrewError::NoFetchers => {
            "give `--available 1` or more, or omit it to see how many are useful".to_owned()
        }
        CrewError::Uncountable { .. } => "give the number of fetchers with `--available`".to_owned(),
        CrewError::TooManyStates { limit, .. } => {
            let busy = arguments.process_rate / arguments.fetch_rate;
            let room = limit / (f64::from(arguments.buffer) + 1.0) - 2.0;
            if room > busy {
                format!("limit the fetchers, up to `--available {room:.0}`")
            } else if limit / 2.0 > busy {
                "use a smaller `--buffer`".to_owned()
            } else {
                "use the fixed number: with such slow fetchers it is close to optimal".to_owned()
            }
        }
        CrewError::TooSteep { .. } => {
            "limit the fetchers with `--available`, or use a smaller `--buffer`".to_owned()
        }
        _ => return None,
    })
}
