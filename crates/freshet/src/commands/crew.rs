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
use crate::number::significant;
use crate::output::{check_file, print_json, print_text};
use crate::progress::Progress;

/// How many fetchers: the question and both answers.
pub(crate) struct Crew<'a> {
    pub(crate) arguments: &'a CrewArguments,
    pub(crate) setting: Setting,
    /// The best fixed number.
    pub(crate) fixed: Fixed,
    /// What the rule for large buffers says of it. It holds only where starvation costs something: if
    /// it does not, one fetcher is best however large the buffer is.
    pub(crate) rule: Option<u64>,
    /// The best switching curve, or why there is none.
    pub(crate) dynamic: Result<Dynamic, CrewError>,
    pub(crate) solve_time: Duration,
}

pub(crate) fn run(arguments: &CrewArguments) -> Result<(), Failure> {
    let to_stdout = arguments.svg.as_deref() == Some(Path::new("-"));
    if arguments.json && to_stdout {
        return Err(Failure::new("standard output can take one of --json and --svg -")
            .hint("write the picture to a file: --svg crew.svg"));
    }
    if let Some(svg) = arguments.svg.as_deref().filter(|_| !to_stdout) {
        check_file(svg)?;
    }
    let crew = answer(arguments)?;
    if let Some(svg) = &arguments.svg {
        let dynamic = crew.dynamic.as_ref().map_err(|error| failure(error, arguments))?;
        let picture = picture::svg(&crew, dynamic);
        if to_stdout {
            return print_text(&picture);
        }
        write_atomic(svg, |out| out.write_all(picture.as_bytes()))?;
    }
    if arguments.json {
        print_json(&report::Report::of(&crew))
    } else {
        print_text(&summary::text(&crew))
    }
}

fn answer(arguments: &CrewArguments) -> Result<Crew<'_>, Failure> {
    let failed = |error: CrewError| failure(&error, arguments);
    let CrewArguments { fetch_rate, process_rate, buffer, starvation_weight, available, .. } =
        *arguments;
    let setting =
        Setting::new(fetch_rate, process_rate, buffer, starvation_weight).map_err(failed)?;
    let fixed = best_fixed(&setting, available).map_err(failed)?;
    let mut progress = Progress::new("solving");
    let (dynamic, solve_time) = timed(|| {
        solve_watched(&setting, available, &mut |curves, cost| {
            progress.report(None, &format!("curve {curves}, cost {}", significant(cost)));
        })
    });
    drop(progress);
    let rule = (starvation_weight > 0.0).then(|| large_buffer_rule(&setting));
    Ok(Crew { arguments, setting, fixed, rule, dynamic, solve_time })
}

/// Why there is no answer, and the way out.
fn failure(error: &CrewError, arguments: &CrewArguments) -> Failure {
    let failure = Failure::new(error);
    match hint(error, arguments) {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The way out.
pub(crate) fn hint(error: &CrewError, arguments: &CrewArguments) -> Option<String> {
    Some(match error {
        CrewError::FetchRate(_) => {
            "give `--fetch-rate` as the pages that one fetcher brings per unit of time, such as \
             `--fetch-rate 0.05`"
                .to_owned()
        }
        CrewError::ProcessRate(_) => {
            "give `--process-rate` as the pages that are processed per unit of time, such as \
             `--process-rate 1`"
                .to_owned()
        }
        CrewError::StarvationWeight(_) => {
            "give `--starvation-weight` as the number of lost pages that are as bad as an empty \
             queue for one unit of time, such as `--starvation-weight 1`"
                .to_owned()
        }
        CrewError::Apart { .. } => {
            "give both rates and the weight in the same unit of time".to_owned()
        }
        CrewError::NoRoom => {
            "count the page in work too: `--buffer 1` is room for no other".to_owned()
        }
        CrewError::NoFetchers => {
            "give `--available 1` or more, or leave it out to see how many are of use".to_owned()
        }
        CrewError::Uncountable { .. } => "say how many there are with `--available`".to_owned(),
        CrewError::TooManyStates { limit, .. } => {
            let busy = arguments.process_rate / arguments.fetch_rate;
            let room = limit / (f64::from(arguments.buffer) + 1.0) - 2.0;
            if room > busy {
                format!("limit the fetchers, up to `--available {room:.0}`")
            } else if limit / 2.0 > busy {
                "take a smaller `--buffer`".to_owned()
            } else {
                "use the fixed number: with fetchers so slow it is close to the best".to_owned()
            }
        }
        CrewError::TooSteep { .. } => {
            "limit the fetchers with `--available`, or take a smaller `--buffer`".to_owned()
        }
        _ => return None,
    })
}
