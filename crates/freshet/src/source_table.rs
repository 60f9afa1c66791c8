//! Loading of source tables and host limits.

use std::collections::HashMap;

use freshet_estimate::{Observation, smoothed_rate};
use freshet_model::SourceTable;
use freshet_plan::{PlanError, Sources};
use freshet_tables::{Input, ReadOptions, read, read_host_limits};

use crate::arguments::{HostLimit, SourceArguments};
use crate::failure::Failure;
use crate::number::{format_count, pluralize};
use crate::output::print_note;
use crate::progress::Progress;

/// Source table with the limits of its hosts.
pub(crate) struct LoadedTable {
    pub(crate) name: String,
    pub(crate) table: SourceTable,
    pub(crate) limits: Option<Vec<f64>>,
}

pub(crate) fn load(arguments: &SourceArguments) -> Result<LoadedTable, Failure> {
    let mut progress = Progress::new("reading");
    let estimate = |history: &[(f64, bool)]| {
        let history: Vec<Observation> =
            history.iter().map(|&(days, changed)| Observation { days, changed }).collect();
        smoothed_rate(&history)
    };
    let options = ReadOptions { ignore_extra: arguments.ignore_extra, estimate: &estimate };
    let input = Input::from_argument(&arguments.path);
    let read = read(&input, &options, &mut |so_far| {
        progress.report(so_far.fraction, &format!("{} rows", format_count(so_far.rows as usize)));
    })?;
    drop(progress);
    if let Some(notes) = &read.polite {
        let skipped = notes.without_rate + notes.without_url + notes.without_importance;
        if skipped > 0 {
            let sources = pluralize(skipped, "source", "sources");
            print_note(&format!("skipped {sources} without rate, URL or importance"));
        }
    }
    let name = match &input {
        Input::Stdin => "standard input".to_owned(),
        Input::File(path) | Input::Directory(path) => path.display().to_string(),
    };
    let constrained = read.polite.as_ref().and_then(|notes| notes.constrained.as_deref());
    let limits = host_limits(&name, &read.table, &arguments.host_limit, constrained)?;
    Ok(LoadedTable { name, table: read.table, limits })
}

fn host_limits(
    name: &str,
    table: &SourceTable,
    arguments: &[HostLimit],
    constrained: Option<&[bool]>,
) -> Result<Option<Vec<f64>>, Failure> {
    if arguments.is_empty() {
        return Ok(None);
    }
    let Some(hosts) = &table.hosts else {
        return Err(Failure::new(format!(
            "{name}: host limits require a column `host`, and there is none"
        ))
        .with_hint("add the column, or remove --host-limit"));
    };
    let default_limit = arguments.iter().rev().find_map(|limit| match limit {
        HostLimit::Rate(rate) => Some(rate.get()),
        HostLimit::File(_) => None,
    });
    let mut limits = vec![default_limit.unwrap_or(f64::INFINITY); hosts.names.len()];
    // A PoliteCrawling directory states which hosts have a limit.
    for (limit, _) in limits.iter_mut().zip(constrained.unwrap_or_default()).filter(|it| !it.1) {
        *limit = f64::INFINITY;
    }
    // Sources without a host have no limit.
    if let Some(none) = hosts.names.iter().position(str::is_empty) {
        limits[none] = f64::INFINITY;
    }
    let numbers: HashMap<&str, usize> =
        hosts.names.iter().enumerate().map(|(number, name)| (name, number)).collect();
    for limit in arguments {
        if let HostLimit::File(path) = limit {
            let exceptions = read_host_limits(path)?;
            let unknown =
                exceptions.iter().filter(|(host, _)| !numbers.contains_key(host.as_str()));
            if let Some((first, _)) = unknown.clone().next() {
                let number = unknown.count();
                print_note(&format!(
                    "{}: {} without sources in {name}, such as `{first}`",
                    path.display(),
                    pluralize(number, "host", "hosts"),
                ));
            }
            for (host, rate) in &exceptions {
                if let Some(&number) = numbers.get(host.as_str()) {
                    limits[number] = rate.get();
                }
            }
        }
    }
    Ok(Some(limits))
}

impl LoadedTable {
    pub(crate) fn sources(&self) -> Result<Sources<'_>, Failure> {
        let table = &self.table;
        let build = || {
            let mut sources = Sources::new(&table.importance, &table.change_rate)?;
            if let Some(complete) = &table.observed {
                sources = sources.with_complete(complete)?;
            }
            if let Some(cost) = &table.cost {
                sources = sources.with_cost(cost)?;
            }
            if table.min_rate.is_some() || table.max_rate.is_some() {
                sources =
                    sources.with_limits(table.min_rate.as_deref(), table.max_rate.as_deref())?;
            }
            if let (Some(hosts), Some(limits)) = (&table.hosts, &self.limits) {
                sources = sources.with_hosts(&hosts.index_by_source, limits)?;
            }
            Ok(sources)
        };
        build().map_err(|error: freshet_plan::InvalidSources| {
            Failure::new(format!("{}: {error}", self.name))
        })
    }

    /// Returns the id of a source, or its row number.
    pub(crate) fn id(&self, row: usize) -> String {
        let named = self.table.ids.as_ref().and_then(|ids| ids.get(row)).map(str::to_owned);
        named.unwrap_or_else(|| (row + 1).to_string())
    }

    pub(crate) fn host(&self, number: u32) -> &str {
        let hosts = self.table.hosts.as_ref();
        hosts.and_then(|hosts| hosts.names.get(number as usize)).unwrap_or_default()
    }

    /// Describes a planning error in terms of the table.
    pub(crate) fn failure(&self, error: &PlanError) -> Failure {
        match *error {
            PlanError::BelowMinimum { minimum, .. } => Failure::new(error)
                .with_hint(format!("raise it with `--budget {}/day`, or lower `min_rate`", round_up(minimum))),
            PlanError::HostBelowMinimum { host, limit, minimum } => Failure::new(format!(
                "host `{}` allows {limit}/day, below the sum of its minimum rates: {minimum}/day",
                self.host(host)
            ))
            .with_hint("raise its limit, or lower `min_rate` of its sources"),
            PlanError::NotAChance { row, column, value } => Failure::new(format!(
                "{}: source `{}`: {column}: `{value}` is too large: with slots it is a probability per slot",
                self.name,
                self.id(row)
            ))
            .with_hint("give probabilities, or use `--timing periodic` or `--timing poisson` for rates"),
            PlanError::OutOfReach { .. } => {
                let limited = self.table.max_rate.is_some() || self.limits.is_some();
                let raise = if limited { ", or raise `max_rate` or --host-limit" } else { "" };
                Failure::new(error).with_hint(format!("lower the target{raise}"))
            }
            PlanError::BudgetRange(_) => {
                Failure::new(error).with_hint("state the budget in another unit")
            }
        }
    }
}

/// Rounds up to four significant digits.
fn round_up(value: f64) -> f64 {
    let unit = 10f64.powf(value.log10().floor() - 3.0);
    let rounded = format!("{:.3e}", (value / unit).ceil() * unit).parse().unwrap_or(value);
    if rounded < value { value } else { rounded }
}
