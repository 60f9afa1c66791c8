//! Hosts that fail.

use std::fmt;
use std::str::FromStr;

use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use crate::seed::{Purpose, random};

/// What goes wrong with a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// Now and then it does not answer for a day.
    Timeout,
    /// Now and then its answers take an hour, for a day.
    Slow,
    /// At some time it goes away for good.
    Gone,
}

/// A kind of fault, and the share of the hosts that it befalls: `timeout:0.3`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// What goes wrong.
    pub kind: FaultKind,
    /// With which share of the hosts.
    pub share: f64,
}

/// Why a text is not a fault.
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

/// Days between two outages of a host, on average.
const BETWEEN: f64 = 14.0;
/// Days that an outage lasts.
const LENGTH: f64 = 1.0;
/// How long an answer of a slow host takes, in days.
const SLOW_ANSWER: f64 = 1.0 / 24.0;

/// How a host is at some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Health {
    Well,
    /// No answer.
    Silent,
    /// An answer after so many days.
    Slow(f64),
    /// No more.
    Gone,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Outage {
    from: f64,
    to: f64,
    health: Health,
}

/// The troubles of all hosts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Faults {
    /// For each host, in order of time; empty if nothing ever fails.
    outages: Vec<Vec<Outage>>,
}

impl Faults {
    pub(crate) fn new(faults: &[Fault], hosts: usize, days: f64, seed: u64) -> Self {
        if faults.iter().all(|fault| fault.share == 0.0) {
            return Self::default();
        }
        let mut random = random(seed, Purpose::Faults);
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

    /// Hosts fail for some days.
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

    /// Room for the troubles of so many hosts.
    pub(crate) fn make_room(&mut self, hosts: usize) {
        self.outages.resize_with(self.outages.len().max(hosts), Vec::new);
    }

    /// How a host is. The worst counts where troubles meet.
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

    /// When a host goes away for good; infinite if it stays.
    pub(crate) fn end(&self, host: u32) -> f64 {
        let outages = self.outages.get(host as usize).map_or(&[][..], |outages| &outages[..]);
        let gone = outages.iter().find(|outage| outage.health == Health::Gone);
        gone.map_or(f64::INFINITY, |outage| outage.from)
    }
}
