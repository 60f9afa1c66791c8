//! `freshet demo`.

mod daemon;
mod truth_history;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use freshet_demo::{Client, DemoError, Finished, Options, Show, Style, Window, World};
use freshet_server::ServeError;
use freshet_sim::Distribution;
use freshet_tables::{Input, pages_beside, read_trace};
use tokio::runtime::Builder;

use crate::commands;
use crate::commands::demo::daemon::{DashboardAddress, DemoDaemonOptions, run_daemon};
use crate::failure::Failure;
use crate::output;

/// Run a live demonstration on a simulated web
///
/// Starts a small web on this machine whose pages change at known times, and keeps copies of them with
/// the real daemon. For comparison, equal polling and Nutch's rule do the same with as many requests. The
/// true freshness of all three is shown, also on the dashboard. One minute shows one day. No network is
/// needed.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The web is designed to show the difference within a minute: many pages change a few times a day,
some change all the time, and some are much more important than others. Pages are occasionally
slow or fail, and every response has different bytes. With --trace, pages change at the recorded
times, and the freshness that the simulator expects is printed as well.

The dashboard is the one of `freshet run`, and everything on it works: budgets, sources, webhooks
to programs on this machine. It listens at http://127.0.0.1:7343/, or at another port if that one
is taken; the first line of the output shows the address. Only the demo's own web is fetched, and
all data is deleted at the end.

--json prints for each of the three clients the mean freshness (freshness), the mean over the
second half (settled_freshness), the freshness at the end (fresh_at_end) and the number of
requests (requests). `as_expected` is true if freshet was fresher than equal polling, and equal
polling fresher than Nutch's rule, as theory predicts for this web; a run of a few seconds can be
too short for that.

Exit code 0: the demo ran, whatever `as_expected` is; 2: it could not run.

Examples:
  freshet demo
  freshet demo --open
  freshet demo --for 60s
  freshet demo --for 60s --json --picture demo.svg
  freshet demo --trace changes.csv.gz --days 730 --budget 0.01")]
pub(crate) struct DemoArguments {
    /// Stop after this time, such as 60s or 2min [default: run until Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = parse_time)]
    length: Option<Duration>,

    /// Number of pages
    #[arg(long, value_name = "N", default_value_t = Options::PAGES, conflicts_with = "trace")]
    pages: usize,

    /// Fetches per page and day, for each of the three clients
    #[arg(long, value_name = "FETCHES", default_value_t = Options::BUDGET)]
    budget: f64,

    /// Seed of the simulated web
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// Replay the changes of a recorded trace (`page_id,unix_time`)
    #[arg(long, value_name = "FILE", requires = "days")]
    trace: Option<PathBuf>,

    /// Number of days to replay, counted from the end of the trace
    #[arg(long, value_name = "DAYS", requires = "trace")]
    days: Option<f64>,

    /// Loopback address of the dashboard, or `off` [default: 127.0.0.1:7343, or any free port]
    #[arg(long, value_name = "ADDRESS", value_parser = parse_dashboard)]
    listen: Option<DashboardAddress>,

    /// Open the dashboard in a browser
    #[arg(long)]
    open: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    /// Write an SVG chart of freshness over time to this file
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
}

fn parse_time(text: &str) -> Result<Duration, String> {
    freshet_fetch::parse_duration(text)
        .ok_or_else(|| format!("`{text}` is not a time such as 60s or 2min"))
}

/// Parses a loopback address, or `off`.
fn parse_dashboard(text: &str) -> Result<DashboardAddress, String> {
    match commands::parse_listen(text)?.0 {
        None => Ok(DashboardAddress::Off),
        Some(address) if address.ip().is_loopback() => Ok(DashboardAddress::Fixed(address)),
        Some(address) => Err(format!(
            "{} can be reached from other machines, and the demo requires no token: use 127.0.0.1:{}",
            address,
            address.port()
        )),
    }
}

pub(crate) fn run(arguments: &DemoArguments) -> Result<ExitCode, Failure> {
    if let Some(path) = &arguments.picture {
        output::check_file(path)?;
    }
    let dashboard = arguments.listen.unwrap_or(DashboardAddress::DefaultOrFree);
    if arguments.open && dashboard == DashboardAddress::Off {
        return Err(Failure::new("--open needs a dashboard, and --listen is off")
            .with_hint("remove one of them"));
    }
    let (options, expected) = options(arguments)?;
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::new(format!("cannot create a directory for copies: {error}")))?;
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let mut out = std::io::stderr();
    let style = if out.is_terminal() { Style::Redrawn } else { Style::Lines };
    let mut show = Show::new(&mut out, style);
    // An error while waiting for Ctrl-C stops the demo.
    let until = async { drop(tokio::signal::ctrl_c().await) };
    let store = folder.path().join("freshet.db");
    let daemon_options = DemoDaemonOptions { store, dashboard, open: arguments.open };
    let demo = freshet_demo::run(options, &mut show, until, |assignment| {
        run_daemon(assignment, daemon_options)
    });
    let finished = runtime.block_on(demo).map_err(|error| demo_failure(&error))?;
    report(arguments, &finished, expected)?;
    Ok(ExitCode::SUCCESS)
}

fn demo_failure(error: &DemoError) -> Failure {
    let DemoError::Daemon(why) = error else {
        return Failure::new(format!("the demo failed: {error}"));
    };
    match why.downcast_ref() {
        Some(taken @ ServeError::Listen { .. }) => Failure::new(taken)
            .with_hint("omit `--listen` for any free port, or use `--listen off` for no dashboard"),
        _ => Failure::new(format!("the demo failed: {why}")),
    }
}

/// Returns the options of the demo, and for a trace the freshness that the simulator expects.
fn options(arguments: &DemoArguments) -> Result<(Options, Option<[f64; 3]>), Failure> {
    let failure = |error: freshet_demo::DemoError| Failure::new(error);
    let DemoArguments { seed, budget, length, .. } = *arguments;
    let Some((path, days)) = arguments.trace.as_ref().zip(arguments.days) else {
        let world = World::made(seed, arguments.pages).map_err(failure)?;
        return Ok((Options { budget, length, ..Options::new(world) }, None));
    };
    let pages = pages_beside(path).map(Input::File);
    let history = read_trace(&Input::File(path.clone()), pages.as_ref(), false, &mut |_| {})?;
    let end = history
        .time_range()
        .ok_or_else(|| Failure::new(format!("{} has no pages", path.display())))?
        .end;
    if !(days > 0.0 && days.is_finite()) {
        return Err(Failure::new(format!("--days {days} is not a number of days")));
    }
    let window = Window { start: end - days * 86_400.0, days };
    let world =
        World::recorded(seed, &history, window, Distribution::Zipf(1.0)).map_err(failure)?;
    let expected = freshet_demo::simulated(&world, budget, days, 0.5 * days).map_err(failure)?;
    let length = length.unwrap_or(Duration::from_secs(60));
    let factor = days * 86_400.0 / length.as_secs_f64();
    let options =
        Options { budget, length: Some(length), factor, lively: false, ..Options::new(world) };
    Ok((options, Some(expected)))
}

fn report(
    arguments: &DemoArguments,
    finished: &Finished,
    expected: Option<[f64; 3]>,
) -> Result<(), Failure> {
    if let Some(path) = &arguments.picture {
        std::fs::write(path, finished.picture())
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))?;
    }
    let simulated = expected.map(|expected| {
        let names = Client::ALL.map(|client| client.name().to_owned());
        names.into_iter().zip(expected).collect::<std::collections::BTreeMap<_, _>>()
    });
    if arguments.json {
        let invalid = |error| Failure::new(format!("cannot write as JSON: {error}"));
        let text = finished.to_json().map_err(invalid)?;
        let mut json: serde_json::Value = serde_json::from_str(&text).map_err(invalid)?;
        if let (Some(object), Some(simulated)) = (json.as_object_mut(), &simulated) {
            object.insert("simulated".to_owned(), serde_json::json!(simulated));
        }
        return output::print_json(&json);
    }
    output::print_note(&finished.summary());
    for (client, expected) in Client::ALL.into_iter().zip(expected.into_iter().flatten()) {
        output::print_note(&format!(
            "{}: {:.4} over the second half; the simulator expects {expected:.4}",
            client.name(),
            finished.settled_freshness(client),
        ));
    }
    Ok(())
}
