//! Signals of a simulation, from the command line to what is simulated.

use std::path::Path;
use std::sync::Arc;

use freshet_model::History;
use freshet_sim::Signals;
use freshet_tables::pages_beside;

use crate::commands::simulate::arguments::{SimulateArguments, Trace};
use crate::commands::simulate::world::from_files;
use crate::failure::Failure;
use crate::number::significant;
use crate::output::note;

/// Signals, and what is said of them.
pub(crate) struct Asked {
    pub(crate) signals: Signals,
    /// The file that they come from.
    pub(crate) trace: Option<String>,
}

impl Asked {
    /// Those that are made up.
    pub(crate) fn made_up(arguments: &SimulateArguments) -> Option<Self> {
        arguments.signals.clone().map(|signals| Self { signals, trace: None })
    }

    /// In a few words.
    pub(crate) fn words(&self) -> String {
        match &self.trace {
            Some(name) => format!("signals of {name}"),
            None => format!("signals {}", self.signals),
        }
    }
}

/// Options that contradict each other.
pub(crate) fn refuse(arguments: &SimulateArguments) -> Result<(), Failure> {
    let Some(path) = &arguments.signal_trace else { return Ok(()) };
    let path = path.display();
    if let Some(signals) = &arguments.signals {
        return Err(Failure::new(format!(
            "--signals {signals} makes up signals, and the trace `{path}` has its own"
        ))
        .hint("leave out --signals or --signal-trace"));
    }
    if arguments.trace.is_none() {
        return Err(Failure::new(format!(
            "--signal-trace `{path}` says when pages of a trace were said to change, and there is no \
             trace"
        ))
        .hint("give the changes themselves with --trace, or make signals up with --signals"));
    }
    Ok(())
}

/// Signals from a file, and of the changes those of the time that both of them cover.
pub(crate) fn recorded(
    path: &Path,
    trace: &Trace,
    changes: &History,
    arguments: &SimulateArguments,
) -> Result<(Asked, History), Failure> {
    let said = from_files(path, pages_beside(path), arguments.ignore_extra)?;
    let name = path.display().to_string();
    let (Some((first, _)), Some(span), Some(all)) =
        (said.first_and_last(), said.span(), changes.span())
    else {
        return Err(Failure::new(format!("{name}: there are no signals in it"))
            .hint("a signal is a row `page_id,unix_time`, as a change is"));
    };
    let (from, to) = (first.max(all.birth), span.end.min(all.end));
    if from >= to {
        return Err(Failure::new(format!(
            "the trace `{trace}` and the signals `{name}` have no time in common"
        ))
        .hint("choose traces of the same pages at the same time"));
    }
    let days = |from: f64, to: f64| (to - from) / 86_400.0;
    if (from, to) != (all.birth, all.end) {
        note(&format!(
            "{trace}: {} of its {} days are simulated, those in which there are signals",
            significant(days(from, to)),
            significant(days(all.birth, all.end)),
        ));
    }
    let signals = Signals::Recorded(Arc::new(said));
    Ok((Asked { signals, trace: Some(name) }, changes.between(from, to)))
}
