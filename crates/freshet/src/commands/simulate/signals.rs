//! Signals of a simulation, from the command line or a trace.

use std::path::Path;
use std::sync::Arc;

use freshet_model::ChangeTrace;
use freshet_sim::Signals;
use freshet_tables::pages_beside;

use crate::commands::simulate::arguments::{SimulateArguments, TraceSource};
use crate::commands::simulate::web::from_files;
use crate::failure::Failure;
use crate::number::format_significant;
use crate::output::print_note;

/// Signals with the name of their trace.
pub(crate) struct SignalInput {
    pub(crate) signals: Signals,
    /// Trace of recorded signals, if they are not synthetic.
    pub(crate) trace: Option<String>,
}

impl SignalInput {
    /// Returns the synthetic signals of the command line.
    pub(crate) fn synthetic(arguments: &SimulateArguments) -> Option<Self> {
        arguments.signals.clone().map(|signals| Self { signals, trace: None })
    }

    /// Describes the signals.
    pub(crate) fn description(&self) -> String {
        match &self.trace {
            Some(name) => format!("signals of {name}"),
            None => format!("signals {}", self.signals),
        }
    }
}

/// Fails if options contradict each other.
pub(crate) fn check_options(arguments: &SimulateArguments) -> Result<(), Failure> {
    let Some(path) = &arguments.signal_trace else { return Ok(()) };
    let path = path.display();
    if let Some(signals) = &arguments.signals {
        return Err(Failure::new(format!(
            "--signals {signals} generates signals, and the trace `{path}` has its own"
        ))
        .with_hint("remove --signals or --signal-trace"));
    }
    if arguments.trace.is_none() {
        return Err(Failure::new(format!(
            "--signal-trace `{path}` contains signals about the pages of a trace, and there is no trace"
        ))
        .with_hint("give the changes with --trace, or generate signals with --signals"));
    }
    Ok(())
}

/// Reads signals from a trace, and restricts both traces to the time that they have in common.
pub(crate) fn recorded(
    path: &Path,
    trace: &TraceSource,
    changes: &ChangeTrace,
    arguments: &SimulateArguments,
) -> Result<(SignalInput, ChangeTrace), Failure> {
    let history = from_files(path, pages_beside(path), arguments.ignore_extra)?;
    let name = path.display().to_string();
    let (Some((first, _)), Some(span), Some(all)) =
        (history.first_and_last_change(), history.time_range(), changes.time_range())
    else {
        return Err(Failure::new(format!("{name}: the file contains no signals"))
            .with_hint("signals are rows `page_id,unix_time`, like changes"));
    };
    let (from, to) = (first.max(all.start), span.end.min(all.end));
    if from >= to {
        return Err(Failure::new(format!(
            "the trace `{trace}` and the signals `{name}` have no time in common"
        ))
        .with_hint("choose traces of the same pages at the same time"));
    }
    let days = |from: f64, to: f64| (to - from) / 86_400.0;
    if (from, to) != (all.start, all.end) {
        print_note(&format!(
            "{trace}: {} of its {} days are simulated, those with signals",
            format_significant(days(from, to)),
            format_significant(days(all.start, all.end)),
        ));
    }
    let signals = Signals::Recorded(Arc::new(history));
    Ok((SignalInput { signals, trace: Some(name) }, changes.slice(from, to)))
}
