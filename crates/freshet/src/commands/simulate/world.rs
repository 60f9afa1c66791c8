//! From the command line to a web that can be simulated.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use freshet_model::History;
use freshet_sim::{Distribution, Origin, Synthetic, WebKind};
use freshet_tables::{GitOptions, Input, pages_beside, read_trace};

use crate::arguments::SourceArguments;
use crate::commands::simulate::arguments::{Shape, SimulateArguments, Trace};
use crate::commands::simulate::signals::{self, Asked};
use crate::commands::trace::from_git;
use crate::failure::Failure;
use crate::number::count;
use crate::output::note;
use crate::progress::Progress;
use crate::source_table::load;

/// A web, and what is said of it.
pub(crate) struct World {
    pub(crate) origin: Origin,
    pub(crate) name: Name,
    /// Whether sources have hosts.
    pub(crate) hosts: bool,
    /// Who says that sources have changed, if anybody does.
    pub(crate) signals: Option<Asked>,
}

/// Where a web comes from.
pub(crate) enum Name {
    MadeUp,
    Table(String),
    Trace(String),
}

pub(crate) fn world(arguments: &SimulateArguments) -> Result<World, Failure> {
    refuse(arguments)?;
    signals::refuse(arguments)?;
    match (&arguments.table, &arguments.trace) {
        (Some(path), _) => of_table(path, arguments),
        (None, Some(trace)) => of_trace(trace, arguments),
        (None, None) => Ok(made_up(arguments)),
    }
}

/// Options that contradict each other.
fn refuse(arguments: &SimulateArguments) -> Result<(), Failure> {
    let SimulateArguments { table, trace, pages, web, shape, sources, rates, importance, .. } =
        arguments;
    let made = [
        ("--shape", shape.is_some()),
        ("--sources", sources.is_some()),
        ("--rates", rates.is_some()),
        ("--observed-share", arguments.observed_share.is_some()),
        ("--per-host", arguments.per_host.is_some()),
    ];
    let made = made.iter().find(|(_, given)| *given).map(|(option, _)| *option);
    match (table, trace, made) {
        (Some(table), Some(trace), _) => {
            let table = table.display();
            return Err(Failure::new(format!(
                "a table of sources and a trace were given, `{table}` and `{trace}`: one web is \
                 simulated at a time"
            ))
            .hint(format!("leave out `{table}` or `--trace {trace}`")));
        }
        (Some(table), None, Some(option)) => {
            let table = table.display();
            return Err(Failure::new(format!(
                "{option} is for a made-up web, and the sources are those of `{table}`"
            ))
            .hint(format!("leave out {option}, or `{table}`")));
        }
        (None, Some(trace), Some(option)) => {
            return Err(Failure::new(format!(
                "{option} is for a made-up web, and the sources are those of the trace `{trace}`"
            ))
            .hint(format!("leave out {option}, or --trace")));
        }
        _ => {}
    }
    if let (Some(table), Some(_)) = (table, importance) {
        let table = table.display();
        return Err(Failure::new(format!(
            "--importance is for a made-up web or a trace, and `{table}` is a table with its own"
        ))
        .hint("give it as the column `importance` of the table"));
    }
    if let (Some(trace), Some(web)) = (trace, web) {
        return Err(Failure::new(format!(
            "--web {web} makes up changes, and the trace `{trace}` has its own"
        ))
        .hint("leave out --web or --trace"));
    }
    match (pages, trace) {
        (Some(pages), None) => Err(Failure::new(format!(
            "--pages `{}` belongs to a trace, and none was given",
            pages.display()
        ))
        .hint("give the changes of these pages with --trace FILE")),
        (Some(pages), Some(trace @ Trace::Git(_))) => Err(Failure::new(format!(
            "--pages `{}` belongs to a trace in a file, and `{trace}` knows its pages",
            pages.display()
        ))
        .hint("leave out --pages")),
        _ => Ok(()),
    }
}

fn made_up(arguments: &SimulateArguments) -> World {
    let kind = arguments.web.unwrap_or(WebKind::Poisson);
    // Rates of the default shape are no chances.
    let usual = if kind == WebKind::Slots { Shape::Azar } else { Shape::Default };
    let shape = arguments.shape.unwrap_or(usual).synthetic();
    let synthetic = Synthetic {
        sources: arguments.sources.map_or(shape.sources, |sources| sources as usize),
        rates: arguments.rates.unwrap_or(shape.rates),
        importance: arguments.importance.unwrap_or(shape.importance),
        observed: arguments.observed_share.unwrap_or(shape.observed),
        per_host: arguments.per_host.unwrap_or(shape.per_host),
    };
    let signals = Asked::made_up(arguments);
    World { origin: Origin::Synthetic(synthetic, kind), name: Name::MadeUp, hosts: true, signals }
}

fn of_table(path: &Path, arguments: &SimulateArguments) -> Result<World, Failure> {
    let from = SourceArguments {
        path: path.to_owned(),
        ignore_extra: arguments.ignore_extra,
        host_limit: Vec::new(),
    };
    let loaded = load(&from)?;
    // Refuses what a planner cannot compute with, in terms of the table.
    loaded.sources()?;
    let (name, table) = (loaded.name, loaded.table);
    let left = [
        ("cost", table.cost.is_some()),
        ("min_rate", table.min_rate.is_some()),
        ("max_rate", table.max_rate.is_some()),
    ];
    let left: Vec<&str> = left.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
    if !left.is_empty() {
        note(&format!("{name}: not simulated: {}", left.join(", ")));
    }
    let hosts = table.hosts.is_some();
    if !hosts && !arguments.fault.is_empty() {
        note(&format!("{name}: no column `host`: each source is taken to have a host of its own"));
    }
    let kind = arguments.web.unwrap_or(WebKind::Poisson);
    let origin = Origin::Table(Arc::new(table), kind);
    Ok(World { origin, name: Name::Table(name), hosts, signals: Asked::made_up(arguments) })
}

fn of_trace(trace: &Trace, arguments: &SimulateArguments) -> Result<World, Failure> {
    let history = match trace {
        Trace::Git(path) => from_git(path, &GitOptions::default())?.history,
        Trace::File(path) => {
            let pages = arguments.pages.clone().or_else(|| pages_beside(path));
            from_files(path, pages, arguments.ignore_extra)?
        }
    };
    let (signals, history) = match &arguments.signal_trace {
        None => (Asked::made_up(arguments), history),
        Some(path) => {
            let (asked, history) = signals::recorded(path, trace, &history, arguments)?;
            (Some(asked), history)
        }
    };
    if let (Some(days), Some(span)) = (arguments.days, history.span()) {
        let all = (span.end - span.birth) / 86_400.0;
        if days > all {
            return Err(Failure::new(format!(
                "the trace `{trace}` has {all} days, and --days asks for {days}"
            ))
            .hint("leave out --days to simulate all of it"));
        }
    }
    let importance = arguments.importance.unwrap_or(Distribution::Equal(1.0));
    let origin = Origin::Recorded(Arc::new(history), importance);
    Ok(World { origin, name: Name::Trace(trace.to_string()), hosts: true, signals })
}

/// A trace from a file, with its file of pages if there is one.
pub(crate) fn from_files(
    path: &Path,
    pages: Option<PathBuf>,
    ignore_extra: bool,
) -> Result<History, Failure> {
    if pages.is_none() {
        note(&format!(
            "{}: no file of pages beside it: those that changed are taken to be there from the \
             first change to the last",
            path.display()
        ));
    }
    let pages = pages.as_deref().map(Input::from_argument);
    let mut progress = Progress::new("reading");
    let trace = Input::from_argument(path);
    Ok(read_trace(&trace, pages.as_ref(), ignore_extra, &mut |so_far| {
        progress.report(so_far.fraction, &format!("{} changes", count(so_far.rows as usize)));
    })?)
}

impl World {
    /// The web in a few words.
    pub(crate) fn words(&self) -> String {
        let signals =
            self.signals.as_ref().map_or_else(String::new, |it| format!(", {}", it.words()));
        let web = match (&self.name, &self.origin) {
            (Name::Table(name), Origin::Table(_, kind)) => format!("table {name}, web {kind}"),
            (Name::Trace(name), Origin::Recorded(_, importance)) => {
                format!("trace {name}, importance {}", distribution(importance))
            }
            (_, Origin::Synthetic(web, kind)) => {
                let observed = match web.observed {
                    0.0 => String::new(),
                    share => format!(", {share} observed"),
                };
                let (rates, importance) = (distribution(&web.rates), distribution(&web.importance));
                format!("web {kind}, rates {rates}, importance {importance}{observed}")
            }
            _ => String::new(),
        };
        web + &signals
    }
}

fn distribution(of: &Distribution) -> String {
    if *of == Distribution::Equal(1.0) { "equal".to_owned() } else { of.to_string() }
}
