//! What happens on known days: other budgets, hosts that fail, sources that come, rates that change.

use std::fmt;

use freshet_model::Budget;
use rand::seq::SliceRandom;

use crate::fault::FaultKind;
use crate::seed::{Purpose, random};
use crate::web::Origin;

/// What happens on known days, in any order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scenario {
    /// One by one.
    pub turns: Vec<ScenarioEvent>,
}

/// Something that happens on a day.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioEvent {
    /// When.
    pub day: f64,
    /// What.
    pub what: Happening,
}

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    /// From now on, another budget.
    Budget(Allowance),
    /// Hosts fail for some days: they are silent, or slow.
    Outage {
        /// For how long.
        days: f64,
        /// Which hosts.
        hosts: Which,
        /// How.
        kind: FaultKind,
    },
    /// So many sources come now, instead of being there from the start: the last of those that are
    /// not yet spoken for by later arrivals.
    Arrival(usize),
    /// From now on, some sources change so many times as often as before.
    Rates {
        /// Which.
        sources: Which,
        /// How many times as often.
        factor: f64,
    },
}

/// A budget in a scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowance {
    /// A share of the one that the experiment begins with.
    Share(f64),
    /// So much.
    Budget(Budget),
}

/// Some of the hosts or sources.
#[derive(Clone, Debug, PartialEq)]
pub enum Which {
    /// A share of them, drawn for each seed. A smaller share is a part of a larger one, so that what is
    /// done to a tenth can be undone.
    Share(f64),
    /// These, counted from 0.
    List(Vec<u32>),
}

/// Why something cannot happen.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum InvalidTurn {
    /// It is not in the time that is simulated.
    #[error("day {day} is not in the time that is simulated, from day 0 to day {days}")]
    Day {
        /// The day.
        day: f64,
        /// How many there are.
        days: f64,
    },
    /// There are not so many sources.
    #[error("{wanted} sources are to come, and there are only {there} in all")]
    Arrivals {
        /// How many are to come on all days.
        wanted: usize,
        /// How many there are.
        there: usize,
    },
    /// A record is what it is.
    #[error("the sources of a trace come and change when they did")]
    Recorded,
    /// There is no such host or source.
    #[error("there is no {what} {number}: they are numbered from 1 to {there}")]
    Number {
        /// Host or source.
        what: &'static str,
        /// Its number, from 1.
        number: u64,
        /// How many there are.
        there: usize,
    },
}

impl Scenario {
    /// Says what cannot happen to such a web in so many days: its place in the list, and why.
    ///
    /// # Errors
    /// For the first of them.
    pub fn check(&self, origin: &Origin, days: f64) -> Result<(), (usize, InvalidTurn)> {
        let sources = origin.sources();
        let mut wanted = 0;
        for (place, turn) in self.turns.iter().enumerate() {
            let wrong = |why| Err((place, why));
            if !(turn.day >= 0.0 && turn.day < days) {
                return wrong(InvalidTurn::Day { day: turn.day, days });
            }
            let recorded = matches!(origin, Origin::Recorded(..));
            match &turn.what {
                Happening::Arrival(_) | Happening::Rates { .. } if recorded => {
                    return wrong(InvalidTurn::Recorded);
                }
                Happening::Arrival(some) => {
                    wanted += some;
                    if wanted > sources {
                        return wrong(InvalidTurn::Arrivals { wanted, there: sources });
                    }
                }
                Happening::Outage { hosts, .. } => {
                    hosts.check("host", origin.hosts()).or_else(wrong)?;
                }
                Happening::Rates { sources: which, .. } => {
                    which.check("source", sources).or_else(wrong)?;
                }
                Happening::Budget(_) => {}
            }
        }
        Ok(())
    }

    /// In order of days; those of one day as they were given.
    pub(crate) fn in_order(&self) -> Vec<&ScenarioEvent> {
        let mut turns: Vec<&ScenarioEvent> = self.turns.iter().collect();
        turns.sort_by(|a, b| a.day.total_cmp(&b.day));
        turns
    }
}

impl Which {
    fn check(&self, what: &'static str, there: usize) -> Result<(), InvalidTurn> {
        let Self::List(list) = self else { return Ok(()) };
        match list.iter().find(|&&number| number as usize >= there) {
            Some(&number) => {
                Err(InvalidTurn::Number { what, number: u64::from(number) + 1, there })
            }
            None => Ok(()),
        }
    }

    /// Which they are: a share is taken from the front of `order`.
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

/// The hosts and the sources of a seed, each in the order in which shares take them.
pub(crate) fn orders(seed: u64, hosts: usize, sources: usize) -> (Vec<u32>, Vec<u32>) {
    let mut dice = random(seed, Purpose::Scenario);
    let mut order = |number: usize| {
        let mut all: Vec<u32> = (0..number as u32).collect();
        all.shuffle(&mut dice);
        all
    };
    (order(hosts), order(sources))
}

impl fmt::Display for Happening {
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

/// Without the last digits that arithmetic leaves behind.
fn tidy(number: f64) -> f64 {
    format!("{number:.6e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_share_is_a_part_of_a_larger_one() {
        let (_, order) = orders(7, 10, 1000);
        let tenth = Which::Share(0.1).pick(&order).to_vec();
        let third = Which::Share(0.3).pick(&order);
        assert_eq!((tenth.len(), third.len()), (100, 300));
        assert_eq!(tenth, third[..100]);
        assert_ne!(orders(7, 10, 1000), orders(8, 10, 1000));
    }

    #[test]
    fn a_share_above_nothing_is_at_least_one() {
        for (share, expect) in [(0.0, 0), (1e-9, 1), (0.5, 2), (1.0, 3)] {
            assert_eq!(Which::Share(share).pick(&[4, 5, 6]).len(), expect, "{share}");
        }
        assert_eq!(Which::Share(0.5).pick(&[]), &[] as &[u32]);
        assert_eq!(Which::List(vec![9]).pick(&[4, 5]), &[9]);
    }

    #[test]
    fn what_happens_can_be_said() {
        let check = |what: Happening, expect: &str| assert_eq!(what.to_string(), expect);
        check(Happening::Budget(Allowance::Share(0.07)), "budget 7 %");
        let budget = Allowance::Budget("400/day".parse().expect("a budget"));
        check(Happening::Budget(budget), "budget 400/day");
        let hosts = Which::List(vec![3]);
        check(Happening::Outage { days: 1.0, hosts, kind: FaultKind::Slow }, "1 host slow");
        check(Happening::Arrival(1000), "1000 sources come");
        let sources = Which::Share(0.1);
        check(Happening::Rates { sources, factor: 10.0 }, "10 % of the sources change × 10");
    }
}
