//! Scenarios: events on given days, from a TOML file.

mod fields;

use std::fs;
use std::path::Path;

use freshet_sim::{
    InvalidScenarioEvent, Origin, Scenario, ScenarioAction, ScenarioEvent, Selection, SimError,
};
use serde::Deserialize;
use toml::Spanned;

use crate::commands::simulate::names::{Names, UnknownName};
use crate::failure::Failure;
use fields::SelectionField;

/// Scenario with the line of each event in its file.
#[derive(Default)]
pub(crate) struct ScenarioFile {
    pub(crate) name: String,
    pub(crate) scenario: Scenario,
    lines: Vec<usize>,
}

/// Contents of a scenario file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScenario {
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
            .with_hint("give the path of a TOML file; `freshet simulate --help` shows one")
    })?;
    parse(name, &text, origin)
}

fn parse(name: String, text: &str, origin: &Origin) -> Result<ScenarioFile, Failure> {
    let raw: RawScenario =
        toml::from_str(text).map_err(|error| parse_failure(&name, text, &error))?;
    let line = |at: usize| 1 + text[..at.min(text.len())].matches('\n').count();
    let (hosts, sources) = (Names::for_hosts(origin), Names::for_sources(origin));
    let mut turns: Vec<(usize, ScenarioEvent)> = Vec::new();
    for it in raw.budget {
        let at = line(it.span().start);
        let fields::Budget { day, budget } = it.into_inner();
        turns.push((at, ScenarioEvent { day, what: ScenarioAction::Budget(budget) }));
    }
    for it in raw.outage {
        let at = line(it.span().start);
        let fields::Outage { day, days, hosts: some, kind } = it.into_inner();
        let which = select(some, &hosts).map_err(|unknown| at_line(&name, at, unknown))?;
        turns.push((
            at,
            ScenarioEvent { day, what: ScenarioAction::Outage { days, hosts: which, kind } },
        ));
    }
    for it in raw.arrival {
        let at = line(it.span().start);
        let fields::Arrival { day, sources } = it.into_inner();
        turns.push((at, ScenarioEvent { day, what: ScenarioAction::Arrival(sources) }));
    }
    for it in raw.rates {
        let at = line(it.span().start);
        let fields::Rates { day, sources: some, factor } = it.into_inner();
        let which = select(some, &sources).map_err(|unknown| at_line(&name, at, unknown))?;
        turns.push((
            at,
            ScenarioEvent { day, what: ScenarioAction::Rates { sources: which, factor } },
        ));
    }
    turns.sort_by(|(_, one), (_, other)| one.day.total_cmp(&other.day));
    let (lines, turns) = turns.into_iter().unzip();
    Ok(ScenarioFile { name, scenario: Scenario { turns }, lines })
}

fn select(some: SelectionField, names: &Names<'_>) -> Result<Selection, UnknownName> {
    match some {
        SelectionField::Share(share) => Ok(Selection::Share(share)),
        SelectionField::Named(list) => {
            let mut numbers: Vec<u32> =
                list.iter().map(|name| names.find(name)).collect::<Result<_, _>>()?;
            // Repeated names select a source once.
            numbers.sort_unstable();
            numbers.dedup();
            Ok(Selection::List(numbers))
        }
    }
}

fn at_line(name: &str, line: usize, unknown: UnknownName) -> Failure {
    Failure::new(format!("{name}, line {line}: {}", unknown.fact)).with_hint(unknown.hint)
}

/// Describes a syntax error with its line, the text of the line, and an example.
fn parse_failure(name: &str, text: &str, error: &toml::de::Error) -> Failure {
    let start = error.span().map_or(0, |span| span.start.min(text.len()));
    let line = 1 + text[..start].matches('\n').count();
    let written = text.lines().nth(line - 1).unwrap_or_default().trim();
    let message = error.message().lines().next().unwrap_or_default();
    // Errors of `fields` begin with `is not`.
    let fact = match message.strip_prefix("is not ") {
        Some(expected) => format!("`{written}` is not {expected}"),
        None => message.to_owned(),
    };
    let section = text.lines().take(line).filter_map(|line| {
        let name = line.trim().strip_prefix('[')?;
        Some(name.trim_start_matches('[').split(']').next()?.trim().to_owned())
    });
    Failure::new(format!("{name}, line {line}: {fact}"))
        .with_hint(fields::example(section.last().as_deref()))
}

impl ScenarioFile {
    /// Describes a scenario error in terms of the file.
    pub(crate) fn failure(&self, error: &SimError) -> Option<Failure> {
        let SimError::Scenario { place, why } = error else { return None };
        let line = self.lines.get(*place).copied().unwrap_or(1);
        let failure = Failure::new(format!("{}, line {line}: {why}", self.name));
        Some(failure.with_hint(match why {
            InvalidScenarioEvent::Day { .. } => "choose an earlier day, or increase --days",
            InvalidScenarioEvent::Arrivals { .. } => {
                "add fewer sources, or increase --sources or the table"
            }
            InvalidScenarioEvent::Recorded => {
                "remove [[arrival]] and [[rates]], or --trace: they require a synthetic web or a table"
            }
            InvalidScenarioEvent::Number { .. } => "give existing numbers, or a share such as \"30%\"",
        }))
    }
}

#[cfg(test)]
mod tests;
