//! `freshet demo`.

mod keep;
mod truth;

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
use crate::commands::demo::keep::{Dashboard, Place, keep};
use crate::failure::Failure;
use crate::output;

/// Show what it does, on a small web of its own, without a network
///
/// Starts a web on this machine whose pages change at times that it knows, and keeps copies of them with
/// the real daemon; beside it equal polling and Nutch's rule do the same with as many requests. The web
/// says how fresh the copies of each really are. A minute shows a day. The dashboard shows it all meanwhile,
/// in a browser on this machine.
#[derive(Debug, Args)]
#[command(after_long_help = "\
The web is made to show the difference within a minute: many pages that change a few times a day, some
that change all the time, and some that matter much more than others. Pages are slow or fail now and
then, and each answer has other bytes. With --trace pages change when those of a recording did, and the
simulator says what freshness to expect.

The dashboard is that of `freshet run`, and everything on it works: budgets, sources, webhooks to programs
on this machine. It is at http://127.0.0.1:7343/, or at another port if that one is taken; the first line
says where. Nothing but the demo's own web is fetched, and all is forgotten in the end.

--json says for each of the three how fresh its copies were on average (freshness), over the second
half (settled_freshness) and at the end (fresh_at_end), and what that took (requests).
`as_expected` is true if freshet was ahead of equal polling, and that of Nutch's rule, as the theory has
it for this web; a run of some seconds can be too short for it.

Exit code 0: it ran, whatever `as_expected` says; 2: it could not.

Examples:
  freshet demo
  freshet demo --open
  freshet demo --for 60s
  freshet demo --for 60s --json --picture demo.svg
  freshet demo --trace changes.csv.gz --days 730 --budget 0.01")]
pub(crate) struct DemoArguments {
    /// How long it goes on; until Ctrl-C if not said
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    length: Option<Duration>,

    /// Pages of the web
    #[arg(long, value_name = "N", default_value_t = Options::PAGES, conflicts_with = "trace")]
    pages: usize,

    /// Fetches a day for each page, of each of the three
    #[arg(long, value_name = "FETCHES", default_value_t = Options::BUDGET)]
    budget: f64,

    /// Another number is another web
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// Pages change when those of this recording did (`page_id,unix_time`)
    #[arg(long, value_name = "FILE", requires = "days")]
    trace: Option<PathBuf>,

    /// How many of the last days of the recording are shown
    #[arg(long, value_name = "DAYS", requires = "trace")]
    days: Option<f64>,

    /// Where the dashboard is: an address of this machine with a port, or `off` [default: 127.0.0.1:7343,
    /// or any free port]
    #[arg(long, value_name = "ADDRESS", value_parser = dashboard)]
    listen: Option<Dashboard>,

    /// Open the dashboard in a browser
    #[arg(long)]
    open: bool,

    /// The numbers as JSON on standard output
    #[arg(long)]
    json: bool,

    /// A picture of freshness over time (SVG)
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
}

fn time(text: &str) -> Result<Duration, String> {
    freshet_fetch::time(text).ok_or_else(|| format!("`{text}` is not a time such as 60s or 2min"))
}

/// Reads an address of this machine, or `off`.
fn dashboard(text: &str) -> Result<Dashboard, String> {
    match commands::listen(text)?.0 {
        None => Ok(Dashboard::Off),
        Some(address) if address.ip().is_loopback() => Ok(Dashboard::At(address)),
        Some(address) => Err(format!(
            "{} can be reached from other machines, and the demo is open to all who reach it: take \
             127.0.0.1:{}",
            address,
            address.port()
        )),
    }
}

pub(crate) fn run(arguments: &DemoArguments) -> Result<ExitCode, Failure> {
    if let Some(path) = &arguments.picture {
        output::check_file(path)?;
    }
    let dashboard = arguments.listen.unwrap_or(Dashboard::Anywhere);
    if arguments.open && dashboard == Dashboard::Off {
        return Err(Failure::new("--open needs a dashboard, and --listen is off")
            .hint("leave one of them out"));
    }
    let (options, expected) = options(arguments)?;
    let folder = tempfile::tempdir()
        .map_err(|error| Failure::new(format!("cannot make a directory for copies: {error}")))?;
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start: {error}")))?;
    let mut out = std::io::stderr();
    let style = if out.is_terminal() { Style::Redrawn } else { Style::Lines };
    let mut show = Show::new(&mut out, style);
    // Whoever cannot be heard is not waited for.
    let until = async { drop(tokio::signal::ctrl_c().await) };
    let place = Place { store: folder.path().join("freshet.db"), dashboard, open: arguments.open };
    let shown = freshet_demo::run(options, &mut show, until, |assignment| keep(assignment, place));
    let finished = runtime.block_on(shown).map_err(|error| broken_off(&error))?;
    report(arguments, &finished, expected)?;
    Ok(ExitCode::SUCCESS)
}

fn broken_off(error: &DemoError) -> Failure {
    let DemoError::Daemon(why) = error else {
        return Failure::new(format!("the demo broke off: {error}"));
    };
    match why.downcast_ref() {
        Some(taken @ ServeError::Listen { .. }) => Failure::new(taken)
            .hint("leave `--listen` out for any free port; `--listen off` is for no dashboard"),
        _ => Failure::new(format!("the demo broke off: {why}")),
    }
}

/// The web, and what the simulator expects of it if it was recorded.
fn options(arguments: &DemoArguments) -> Result<(Options, Option<[f64; 3]>), Failure> {
    let refuse = |error: freshet_demo::DemoError| Failure::new(error);
    let DemoArguments { seed, budget, length, .. } = *arguments;
    let Some((path, days)) = arguments.trace.as_ref().zip(arguments.days) else {
        let world = World::made(seed, arguments.pages).map_err(refuse)?;
        return Ok((Options { budget, length, ..Options::new(world) }, None));
    };
    let pages = pages_beside(path).map(Input::File);
    let history = read_trace(&Input::File(path.clone()), pages.as_ref(), false, &mut |_| {})?;
    let end =
        history.span().ok_or_else(|| Failure::new(format!("{} has no pages", path.display())))?.end;
    if !(days > 0.0 && days.is_finite()) {
        return Err(Failure::new(format!("--days {days} is not a number of days")));
    }
    let window = Window { start: end - days * 86_400.0, days };
    let world = World::recorded(seed, &history, window, Distribution::Zipf(1.0)).map_err(refuse)?;
    let expected = freshet_demo::simulated(&world, budget, days, 0.5 * days).map_err(refuse)?;
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
        let wrong = |error| Failure::new(format!("the numbers cannot be written: {error}"));
        let text = finished.to_json().map_err(wrong)?;
        let mut json: serde_json::Value = serde_json::from_str(&text).map_err(wrong)?;
        if let (Some(object), Some(simulated)) = (json.as_object_mut(), &simulated) {
            object.insert("simulated".to_owned(), serde_json::json!(simulated));
        }
        return output::print_json(&json);
    }
    output::note(&finished.summary());
    for (client, expected) in Client::ALL.into_iter().zip(expected.into_iter().flatten()) {
        output::note(&format!(
            "{}: {:.4} over the second half; the simulator says {expected:.4}",
            client.name(),
            finished.settled_freshness(client),
        ));
    }
    Ok(())
}
