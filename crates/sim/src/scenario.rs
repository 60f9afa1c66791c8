//! Events on certain days: new budgets, outages, arrivals, changed rates.

use std::fmt;

use freshet_model::Budget;
use rand::seq::SliceRandom;

use crate::fault::FaultKind;
use crate::seed::{RandomPurpose, random};
use crate::web::Origin;

/// Events on certain days, in any order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    /// The events.
    pub turns: Vec<ScenarioEvent>,
}

/// Event on a certain day.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioEvent {
    /// The day.
    pub day: f64,
    /// The event.
    pub what: ScenarioAction,
}

/// Kind of event.
#[derive(Clone, Debug, PartialEq)]
pub enum ScenarioAction {
    /// The budget changes.
    Budget(Allowance),
    /// Hosts do not answer, or are slow, for some days.
    Outage {
        /// Duration in days.
        days: f64,
        /// Affected hosts.
        hosts: Selection,
        /// Kind of outage.
        kind: FaultKind,
    },
    /// This number of sources is added now instead of at the start: the last ones that later
    /// arrivals do not use.
    Arrival(usize),
    /// The change rates of some sources are multiplied by a factor.
    Rates {
        /// The policy, host or source.
        sources: Selection,
        /// Factor.
        factor: f64,
    },
}

/// A budget in a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowance {
    /// Share of the budget at the start.
    Share(f64),
    /// Absolute budget.
    Budget(Budget),
}

/// Some of the hosts or sources.
#[derive(Clone, Debug, PartialEq)]
pub enum Selection {
    /// A share, drawn for each seed. A smaller share is part of a larger one, so that a change of a
    /// tenth can be reverted.
    Share(f64),
    /// Indices, starting at 0.
    List(Vec<u32>),
}

/// Error for an impossible event.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum InvalidScenarioEvent {
    /// The day is outside the simulated time.
    #[error("day {day} is not in the time that is simulated, from day 0 to day {days}")]
    Day {
        /// The day.
        day: f64,
        /// Available number.
        days: f64,
    },
    /// There are not enough sources.
    #[error("{wanted} sources are to be added, but there are only {there} in total")]
    Arrivals {
        /// Number of sources that arrive in total.
        wanted: usize,
        /// Available number.
        there: usize,
    },
    /// The event does not apply to a trace.
    #[error("the sources of a trace appear and change as recorded")]
    Recorded,
    /// Unknown host or source.
    #[error("there is no {what} {number}: they are numbered from 1 to {there}")]
    Number {
        /// `host` or `source`.
        what: &'static str,
        /// Number, starting at 1.
        number: u64,
        /// Available number.
        there: usize,
    },
}

impl Scenario {
    /// Checks the events against a web and a duration. The error has the index of the event and the reason.
    ///
    /// # Errors
    /// Returns an error for the first impossible event.
    pub fn check(&self, origin: &Origin, days: f64) -> Result<(), (usize, InvalidScenarioEvent)> {
        let sources = origin.sources();
        let mut wanted = 0;
        for (place, turn) in self.turns.iter().enumerate() {
            let wrong = |why| Err((place, why));
            if !(turn.day >= 0.0 && turn.day < days) {
                return wrong(InvalidScenarioEvent::Day { day: turn.day, days });
            }
            let recorded = matches!(origin, Origin::Recorded(..));
            match &turn.what {
                ScenarioAction::Arrival(_) | ScenarioAction::Rates { .. } if recorded => {
                    return wrong(InvalidScenarioEvent::Recorded);
                }
                ScenarioAction::Arrival(some) => {
                    wanted += some;
                    if wanted > sources {
                        return wrong(InvalidScenarioEvent::Arrivals { wanted, there: sources });
                    }
                }
                ScenarioAction::Outage { hosts, .. } => {
                    hosts.check("host", origin.hosts()).or_else(wrong)?;
                }
                ScenarioAction::Rates { sources: which, .. } => {
                    which.check("source", sources).or_else(wrong)?;
                }
                ScenarioAction::Budget(_) => {}
            }
        }
        Ok(())
    }

    /// Returns the events in order of days; events of one day in the given order.
    pub(crate) fn in_order(&self) -> Vec<&ScenarioEvent> {
        let mut turns: Vec<&ScenarioEvent> = self.turns.iter().collect();
        turns.sort_by(|a, b| a.day.total_cmp(&b.day));
        turns
    }
}

impl Selection {
    fn check(&self, what: &'static str, there: usize) -> Result<(), InvalidScenarioEvent> {
        let Self::List(list) = self else { return Ok(()) };
        match list.iter().find(|&&number| number as usize >= there) {
            Some(&number) => {
                Err(InvalidScenarioEvent::Number { what, number: u64::from(number) + 1, there })
            }
            None => Ok(()),
        }
    }

    /// Returns the indices; a share is taken from the front of `order`.
    pub(crate) fn pick<'a>(&'a self, order: &'a [u32]) -> &'a [u32] {
        match self {
            Self::List(list) => list,
            Self::Share(share) => {
                let least = usize::from(*share > 0.0 && !order.is_empty());
                let some = ((share * order.len() as f64).round() as usize).max(least);
                &order[..some.min(order.len())]
            }
        }
    }

    fn words(&self, one: &str, many: &str) -> String {
        match self {
            Self::Share(share) => format!("{} % of the {many}", tidy(100.0 * share)),
            Self::List(list) if list.len() == 1 => format!("1 {one}"),
            Self::List(list) => format!("{} {many}", list.len()),
        }
    }
}

/// Returns the hosts and the sources of a seed, each in the order in which shares select them.
pub(crate) fn orders(seed: u64, hosts: usize, sources: usize) -> (Vec<u32>, Vec<u32>) {
    let mut dice = random(seed, RandomPurpose::Scenario);
    let mut order = |number: usize| {
        let mut all: Vec<u32> = (0..number as u32).collect();
        all.shuffle(&mut dice);
        all
    };
    (order(hosts), order(sources))
}

impl fmt::Display for ScenarioAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget(Allowance::Share(share)) => write!(f, "budget {} %", tidy(100.0 * share)),
            Self::Budget(Allowance::Budget(budget)) => write!(f, "budget {budget}"),
            Self::Outage { hosts, kind, .. } => {
                let how = if *kind == FaultKind::Slow { "slow" } else { "silent" };
                write!(f, "{} {how}", hosts.words("host", "hosts"))
            }
            Self::Arrival(1) => f.write_str("1 source comes"),
            Self::Arrival(sources) => write!(f, "{sources} sources come"),
            Self::Rates { sources, factor } => {
                write!(f, "{} change × {}", sources.words("source", "sources"), tidy(*factor))
            }
        }
    }
}

/// Rounds away arithmetic noise.
fn tidy(number: f64) -> f64 {
    format!("{number:.6e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_share_is_a_part_of_a_larger_one() {
        let (_, order) = orders(7, 10, 1000);
        let tenth = Selection::Share(0.1).pick(&order).to_vec();
        let third = Selection::Share(0.3).pick(&order);
        assert_eq!((tenth.len(), third.len()), (100, 300));
        assert_eq!(tenth, third[..100]);
        assert_ne!(orders(7, 10, 1000), orders(8, 10, 1000));
    }

    #[test]
    fn a_share_above_nothing_is_at_least_one() {
        for (share, expect) in [(0.0, 0), (1e-9, 1), (0.5, 2), (1.0, 3)] {
            assert_eq!(Selection::Share(share).pick(&[4, 5, 6]).len(), expect, "{share}");
        }
        assert_eq!(Selection::Share(0.5).pick(&[]), &[] as &[u32]);
        assert_eq!(Selection::List(vec![9]).pick(&[4, 5]), &[9]);
    }

    #[test]
    fn what_happens_can_be_said() {
        let check = |what: ScenarioAction, expect: &str| assert_eq!(what.to_string(), expect);
        check(ScenarioAction::Budget(Allowance::Share(0.07)), "budget 7 %");
        let budget = Allowance::Budget("400/day".parse().expect("a budget"));
        check(ScenarioAction::Budget(budget), "budget 400/day");
        let hosts = Selection::List(vec![3]);
        check(ScenarioAction::Outage { days: 1.0, hosts, kind: FaultKind::Slow }, "1 host slow");
        check(ScenarioAction::Arrival(1000), "1000 sources come");
        let sources = Selection::Share(0.1);
        check(ScenarioAction::Rates { sources, factor: 10.0 }, "10 % of the sources change × 10");
    }
}
