//! What happens on known days, from a file.

mod fields;

use std::fs;
use std::path::Path;

use freshet_sim::{Happening, InvalidTurn, Origin, Scenario, ScenarioEvent, SimError, Which};
use serde::Deserialize;
use toml::Spanned;

use crate::commands::simulate::names::{Names, Unknown};
use crate::failure::Failure;
use fields::Chosen;

/// A scenario, and where each part of it was written.
#[derive(Default)]
pub(crate) struct ScenarioFile {
    pub(crate) name: String,
    pub(crate) scenario: Scenario,
    lines: Vec<usize>,
}

/// As it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    budget: Vec<Spanned<fields::Budget>>,
    #[serde(default)]
    outage: Vec<Spanned<fields::Outage>>,
    #[serde(default)]
    arrival: Vec<Spanned<fields::Arrival>>,
    #[serde(default)]
    rates: Vec<Spanned<fields::Rates>>,
}

pub(crate) fn read(path: &Path, origin: &Origin) -> Result<ScenarioFile, Failure> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::new(format!("cannot read the scenario {name}: {error}"))
            .hint("give the path of a TOML file; `freshet simulate --help` shows one")
    })?;
    parse(name, &text, origin)
}

fn parse(name: String, text: &str, origin: &Origin) -> Result<ScenarioFile, Failure> {
    let written: Written = toml::from_str(text).map_err(|error| refused(&name, text, &error))?;
    let line = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count();
    let (hosts, sources) = (Names::of_hosts(origin), Names::of_sources(origin));
    let mut turns: Vec<(usize, ScenarioEvent)> = Vec::new();
    for it in written.budget {
        let at = line(it.span().start);
        let fields::Budget { day, budget } = it.into_inner();
        turns.push((at, ScenarioEvent { day, what: Happening::Budget(budget) }));
    }
    for it in written.outage {
        let at = line(it.span().start);
        let fields::Outage { day, days, hosts: some, kind } = it.into_inner();
        let which = which(some, &hosts).map_err(|unknown| at_line(&name, at, unknown))?;
        turns.push((
            at,
            ScenarioEvent { day, what: Happening::Outage { days, hosts: which, kind } },
        ));
    }
    for it in written.arrival {
        let at = line(it.span().start);
        let fields::Arrival { day, sources } = it.into_inner();
        turns.push((at, ScenarioEvent { day, what: Happening::Arrival(sources) }));
    }
    for it in written.rates {
        let at = line(it.span().start);
        let fields::Rates { day, sources: some, factor } = it.into_inner();
        let which = which(some, &sources).map_err(|unknown| at_line(&name, at, unknown))?;
        turns.push((at, ScenarioEvent { day, what: Happening::Rates { sources: which, factor } }));
    }
    turns.sort_by(|(_, one), (_, other)| one.day.total_cmp(&other.day));
    let (lines, turns) = turns.into_iter().unzip();
    Ok(ScenarioFile { name, scenario: Scenario { turns }, lines })
}

fn which(some: Chosen, names: &Names<'_>) -> Result<Which, Unknown> {
    match some {
        Chosen::Share(share) => Ok(Which::Share(share)),
        Chosen::Named(list) => {
            let mut numbers: Vec<u32> =
                list.iter().map(|name| names.find(name)).collect::<Result<_, _>>()?;
            // Whoever is named twice is meant once.
            numbers.sort_unstable();
            numbers.dedup();
            Ok(Which::List(numbers))
        }
    }
}

fn at_line(name: &str, line: usize, unknown: Unknown) -> Failure {
    Failure::new(format!("{name}, line {line}: {}", unknown.fact)).hint(unknown.hint)
}

/// Why a text is no scenario: where, what is there, and what could be.
fn refused(name: &str, text: &str, error: &toml::de::Error) -> Failure {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = 1 + text[..start].matches('\n').count();
    let written = text.lines().nth(line - 1).unwrap_or_default().trim();
    let message = error.message().lines().next().unwrap_or_default();
    // What a field says of its value begins like this.
    let fact = match message.strip_prefix("is not ") {
        Some(expected) => format!("`{written}` is not {expected}"),
        None => message.to_owned(),
    };
    let section = text.lines().take(line).filter_map(|line| {
        let name = line.trim().strip_prefix('[')?;
        Some(name.trim_start_matches('[').split(']').next()?.trim().to_owned())
    });
    Failure::new(format!("{name}, line {line}: {fact}"))
        .hint(fields::example(section.last().as_deref()))
}

impl ScenarioFile {
    /// Why it cannot be simulated, in terms of the file.
    pub(crate) fn failure(&self, error: &SimError) -> Option<Failure> {
        let SimError::Scenario { place, why } = error else { return None };
        let line = self.lines.get(*place).copied().unwrap_or(1);
        let failure = Failure::new(format!("{}, line {line}: {why}", self.name));
        Some(failure.hint(match why {
            InvalidTurn::Day { .. } => "choose an earlier day, or simulate more --days",
            InvalidTurn::Arrivals { .. } => {
                "let fewer come, or have more: --sources, or a longer table"
            }
            InvalidTurn::Recorded => {
                "leave out [[arrival]] and [[rates]], or --trace: they are for made-up webs and tables"
            }
            InvalidTurn::Number { .. } => "name those that there are, or a share such as \"30%\"",
        }))
    }
}

#[cfg(test)]
mod tests;
