//! Faults of hosts.

use std::fmt;
use std::str::FromStr;

use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use crate::seed::{RandomPurpose, random};

/// Kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The host does not answer for a day from time to time.
    Timeout,
    /// Responses take an hour for a day from time to time.
    Slow,
    /// The host disappears for good at some time.
    Gone,
}

/// A kind of fault and the share of affected hosts: `timeout:0.3`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// Faults of hosts.
    pub kind: FaultKind,
    /// Share of affected hosts.
    pub share: f64,
}

/// Error for an invalid fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a fault such as `timeout:0.3`, `slow:0.1` or `gone:0.05` (a share of hosts, 0 to 1)"
)]
pub struct InvalidFault(String);

impl FromStr for Fault {
    type Err = InvalidFault;

    fn from_str(text: &str) -> Result<Self, InvalidFault> {
        let wrong = || InvalidFault(text.to_owned());
        let (name, share) = text.split_once(':').ok_or_else(wrong)?;
        let kind = match name {
            "timeout" => FaultKind::Timeout,
            "slow" => FaultKind::Slow,
            "gone" => FaultKind::Gone,
            _ => return Err(wrong()),
        };
        let share: f64 = share.parse().map_err(|_| wrong())?;
        if (0.0..=1.0).contains(&share) { Ok(Self { kind, share }) } else { Err(wrong()) }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            FaultKind::Timeout => "timeout",
            FaultKind::Slow => "slow",
            FaultKind::Gone => "gone",
        };
        write!(f, "{name}:{}", self.share)
    }
}

/// Mean number of days between two outages of a host.
const BETWEEN: f64 = 14.0;
/// Length of an outage in days.
const LENGTH: f64 = 1.0;
/// Response time of a slow host in days.
const SLOW_ANSWER: f64 = 1.0 / 24.0;

/// State of a host at some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Health {
    Well,
    /// The host does not answer.
    Silent,
    /// The host answers after this number of days.
    Slow(f64),
    /// The host has disappeared.
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Outage {
    from: f64,
    to: f64,
    health: Health,
}

/// Faults of all hosts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Faults {
    /// Outages of each host in order of time; empty if no host fails.
    outages: Vec<Vec<Outage>>,
}

impl Faults {
    pub(crate) fn new(faults: &[Fault], hosts: usize, days: f64, seed: u64) -> Self {
        if faults.iter().all(|fault| fault.share == 0.0) {
            return Self::default();
        }
        let mut random = random(seed, RandomPurpose::Faults);
        let mut of_host = || {
            let mut outages = Vec::new();
            for fault in faults {
                if random.random::<f64>() >= fault.share {
                    continue;
                }
                let health = match fault.kind {
                    FaultKind::Timeout => Health::Silent,
                    FaultKind::Slow => Health::Slow(SLOW_ANSWER),
                    FaultKind::Gone => Health::Gone,
                };
                let mut from = 0.0;
                if fault.kind == FaultKind::Gone {
                    from = days * random.random::<f64>();
                    outages.push(Outage { from, to: f64::INFINITY, health });
                    continue;
                }
                loop {
                    let wait: f64 = Exp1.sample(&mut random);
                    from += wait * BETWEEN;
                    if from >= days {
                        break;
                    }
                    outages.push(Outage { from, to: from + LENGTH, health });
                    from += LENGTH;
                }
            }
            outages.sort_by(|a, b| a.from.total_cmp(&b.from));
            outages
        };
        Self { outages: (0..hosts).map(|_| of_host()).collect() }
    }

    /// Adds an outage of hosts.
    pub(crate) fn add(&mut self, hosts: &[u32], from: f64, days: f64, kind: FaultKind) {
        for &host in hosts {
            let Some(outages) = self.outages.get_mut(host as usize) else { continue };
            let (to, health) = match kind {
                FaultKind::Timeout => (from + days, Health::Silent),
                FaultKind::Slow => (from + days, Health::Slow(SLOW_ANSWER)),
                FaultKind::Gone => (f64::INFINITY, Health::Gone),
            };
            let place = outages.partition_point(|outage| outage.from <= from);
            outages.insert(place, Outage { from, to, health });
        }
    }

    /// Ensures that there is an entry for each host.
    pub(crate) fn make_room(&mut self, hosts: usize) {
        self.outages.resize_with(self.outages.len().max(hosts), Vec::new);
    }

    /// Returns the state of a host. If outages overlap, the worst one counts.
    #[inline]
    pub(crate) fn health(&self, host: u32, day: f64) -> Health {
        if self.outages.is_empty() { Health::Well } else { self.look_up(host, day) }
    }

    fn look_up(&self, host: u32, day: f64) -> Health {
        let outages = &self.outages[host as usize];
        let begun = outages.partition_point(|outage| outage.from <= day);
        let mut health = Health::Well;
        for outage in &outages[..begun] {
            if day < outage.to {
                health = match (health, outage.health) {
                    (Health::Gone, _) | (_, Health::Gone) => Health::Gone,
                    (Health::Silent, _) | (_, Health::Silent) => Health::Silent,
                    (_, other) => other,
                };
            }
        }
        health
    }

    /// Returns the day on which a host disappears, or infinity.
    pub(crate) fn end(&self, host: u32) -> f64 {
        let outages = self.outages.get(host as usize).map_or(&[][..], |outages| &outages[..]);
        let gone = outages.iter().find(|outage| outage.health == Health::Gone);
        gone.map_or(f64::INFINITY, |outage| outage.from)
    }
}
