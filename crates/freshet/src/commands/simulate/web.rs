//! The simulated web, from the command line, a table or a trace.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use freshet_model::ChangeTrace;
use freshet_sim::{Distribution, Origin, Synthetic, WebKind};
use freshet_tables::{GitOptions, Input, pages_beside, read_trace};

use crate::arguments::SourceArguments;
use crate::commands::simulate::arguments::{SimulateArguments, TraceSource, WebPreset};
use crate::commands::simulate::signals::{self, SignalInput};
use crate::commands::trace::from_git;
use crate::failure::Failure;
use crate::number::format_count;
use crate::output::print_note;
use crate::progress::Progress;
use crate::source_table::load;

/// Simulated web with its signals.
pub(crate) struct SimulatedWeb {
    pub(crate) origin: Origin,
    pub(crate) name: WebName,
    /// True if sources have hosts.
    pub(crate) hosts: bool,
    /// Signals about changes, if there are any.
    pub(crate) signals: Option<SignalInput>,
}

/// Name of the input of a simulated web.
pub(crate) enum WebName {
    Synthetic,
    Table(String),
    Trace(String),
}

pub(crate) fn load_web(arguments: &SimulateArguments) -> Result<SimulatedWeb, Failure> {
    check_options(arguments)?;
    signals::check_options(arguments)?;
    match (&arguments.table, &arguments.trace) {
        (Some(path), _) => from_table(path, arguments),
        (None, Some(trace)) => from_trace(trace, arguments),
        (None, None) => Ok(synthetic(arguments)),
    }
}

/// Fails if options contradict each other.
fn check_options(arguments: &SimulateArguments) -> Result<(), Failure> {
    let SimulateArguments { table, trace, pages, web, shape, sources, rates, importance, .. } =
        arguments;
    let synthetic_only = [
        ("--shape", shape.is_some()),
        ("--sources", sources.is_some()),
        ("--rates", rates.is_some()),
        ("--observed-share", arguments.observed_share.is_some()),
        ("--per-host", arguments.per_host.is_some()),
    ];
    let synthetic_only =
        synthetic_only.iter().find(|(_, is_given)| *is_given).map(|(option, _)| *option);
    match (table, trace, synthetic_only) {
        (Some(table), Some(trace), _) => {
            let table = table.display();
            return Err(Failure::new(format!(
                "both a table of sources and a trace are given: `{table}` and `{trace}`"
            ))
            .with_hint(format!("remove `{table}` or `--trace {trace}`")));
        }
        (Some(table), None, Some(option)) => {
            let table = table.display();
            return Err(Failure::new(format!(
                "{option} requires a synthetic web, and the sources come from `{table}`"
            ))
            .with_hint(format!("remove {option} or `{table}`")));
        }
        (None, Some(trace), Some(option)) => {
            return Err(Failure::new(format!(
                "{option} requires a synthetic web, and the sources come from the trace `{trace}`"
            ))
            .with_hint(format!("remove {option} or --trace")));
        }
        _ => {}
    }
    if let (Some(table), Some(_)) = (table, importance) {
        let table = table.display();
        return Err(Failure::new(format!(
            "--importance requires a synthetic web or a trace, and `{table}` is a table"
        ))
        .with_hint("use the column `importance` of the table"));
    }
    if let (Some(trace), Some(web)) = (trace, web) {
        return Err(Failure::new(format!(
            "--web {web} generates changes, and the trace `{trace}` has its own"
        ))
        .with_hint("remove --web or --trace"));
    }
    match (pages, trace) {
        (Some(pages), None) => Err(Failure::new(format!(
            "--pages `{}` requires a trace, and none is given",
            pages.display()
        ))
        .with_hint("give the changes of these pages with --trace FILE")),
        (Some(pages), Some(trace @ TraceSource::Git(_))) => Err(Failure::new(format!(
            "--pages `{}` requires a trace from a file, and `{trace}` has its own pages",
            pages.display()
        ))
        .with_hint("remove --pages")),
        _ => Ok(()),
    }
}

fn synthetic(arguments: &SimulateArguments) -> SimulatedWeb {
    let kind = arguments.web.unwrap_or(WebKind::Poisson);
    // The rates of the default preset are not probabilities.
    let default = if kind == WebKind::Slots { WebPreset::Azar } else { WebPreset::Default };
    let shape = arguments.shape.unwrap_or(default).synthetic();
    let synthetic = Synthetic {
        sources: arguments.sources.map_or(shape.sources, |sources| sources as usize),
        rates: arguments.rates.unwrap_or(shape.rates),
        importance: arguments.importance.unwrap_or(shape.importance),
        observed: arguments.observed_share.unwrap_or(shape.observed),
        per_host: arguments.per_host.unwrap_or(shape.per_host),
    };
    let signals = SignalInput::synthetic(arguments);
    SimulatedWeb {
        origin: Origin::Synthetic(synthetic, kind),
        name: WebName::Synthetic,
        hosts: true,
        signals,
    }
}

fn from_table(path: &Path, arguments: &SimulateArguments) -> Result<SimulatedWeb, Failure> {
    let from = SourceArguments {
        path: path.to_owned(),
        ignore_extra: arguments.ignore_extra,
        host_limit: Vec::new(),
    };
    let loaded = load(&from)?;
    // Validates the table as for a plan.
    loaded.sources()?;
    let (name, table) = (loaded.name, loaded.table);
    let ignored = [
        ("cost", table.cost.is_some()),
        ("min_rate", table.min_rate.is_some()),
        ("max_rate", table.max_rate.is_some()),
    ];
    let ignored: Vec<&str> =
        ignored.iter().filter(|(_, is_present)| *is_present).map(|(name, _)| *name).collect();
    if !ignored.is_empty() {
        print_note(&format!("{name}: not simulated: {}", ignored.join(", ")));
    }
    let hosts = table.hosts.is_some();
    if !hosts && !arguments.fault.is_empty() {
        print_note(&format!("{name}: no column `host`: each source gets its own host"));
    }
    let kind = arguments.web.unwrap_or(WebKind::Poisson);
    let origin = Origin::Table(Arc::new(table), kind);
    Ok(SimulatedWeb {
        origin,
        name: WebName::Table(name),
        hosts,
        signals: SignalInput::synthetic(arguments),
    })
}

fn from_trace(trace: &TraceSource, arguments: &SimulateArguments) -> Result<SimulatedWeb, Failure> {
    let history = match trace {
        TraceSource::Git(path) => from_git(path, &GitOptions::default())?.history,
        TraceSource::File(path) => {
            let pages = arguments.pages.clone().or_else(|| pages_beside(path));
            from_files(path, pages, arguments.ignore_extra)?
        }
    };
    let (signals, history) = match &arguments.signal_trace {
        None => (SignalInput::synthetic(arguments), history),
        Some(path) => {
            let (signals, history) = signals::recorded(path, trace, &history, arguments)?;
            (Some(signals), history)
        }
    };
    if let (Some(days), Some(span)) = (arguments.days, history.time_range()) {
        let all = (span.end - span.start) / 86_400.0;
        if days > all {
            return Err(Failure::new(format!(
                "the trace `{trace}` has {all} days, and --days is {days}"
            ))
            .with_hint("remove --days to simulate the whole trace"));
        }
    }
    let importance = arguments.importance.unwrap_or(Distribution::Equal(1.0));
    let origin = Origin::Recorded(Arc::new(history), importance);
    Ok(SimulatedWeb { origin, name: WebName::Trace(trace.to_string()), hosts: true, signals })
}

/// Reads a trace from a file, with its file of pages if there is one.
pub(crate) fn from_files(
    path: &Path,
    pages: Option<PathBuf>,
    ignore_extra: bool,
) -> Result<ChangeTrace, Failure> {
    if pages.is_none() {
        print_note(&format!(
            "{}: there is no file of pages: pages are assumed to exist from the first change of \
             the trace to the last",
            path.display()
        ));
    }
    let pages = pages.as_deref().map(Input::from_argument);
    let mut progress = Progress::new("reading");
    let trace = Input::from_argument(path);
    Ok(read_trace(&trace, pages.as_ref(), ignore_extra, &mut |so_far| {
        progress
            .report(so_far.fraction, &format!("{} changes", format_count(so_far.rows as usize)));
    })?)
}

impl SimulatedWeb {
    /// Describes the web.
    pub(crate) fn description(&self) -> String {
        let signals =
            self.signals.as_ref().map_or_else(String::new, |it| format!(", {}", it.description()));
        let web = match (&self.name, &self.origin) {
            (WebName::Table(name), Origin::Table(_, kind)) => format!("table {name}, web {kind}"),
            (WebName::Trace(name), Origin::Recorded(_, importance)) => {
                format!("trace {name}, importance {}", format_distribution(importance))
            }
            (_, Origin::Synthetic(web, kind)) => {
                let observed = match web.observed {
                    0.0 => String::new(),
                    share => format!(", {share} observed"),
                };
                let (rates, importance) =
                    (format_distribution(&web.rates), format_distribution(&web.importance));
                format!("web {kind}, rates {rates}, importance {importance}{observed}")
            }
            _ => String::new(),
        };
        web + &signals
    }
}

fn format_distribution(of: &Distribution) -> String {
    if *of == Distribution::Equal(1.0) { "equal".to_owned() } else { of.to_string() }
}
