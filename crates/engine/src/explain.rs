//! Explanation of when and why a source is due.

use std::fmt;

use freshet_estimate::Belief;

use crate::engine::Engine;
use crate::signal_source::PendingSignals;
use crate::source::{Goal, Source, SourceFlags, SourceState};

/// Explanation of when and why a source is due, returned by [`Engine::explain`]. Days are the
/// engine's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explanation {
    /// Number of the source.
    pub id: u32,
    /// Day of the explanation.
    pub now: f64,
    /// Phase of the source.
    pub phase: SourcePhase,
    /// Goal of its copy.
    pub goal: Goal,
    /// Importance.
    pub importance: f64,
    /// Cost of a fetch, in units of the budget.
    pub cost: f64,
    /// Time of the last answered fetch.
    pub last_fetch: Option<f64>,
    /// Belief about its change rate.
    pub belief: Belief,
    /// 95 % interval of the change rate.
    pub credible_interval: (f64, f64),
    /// Observed changes that are not fetched yet; `None` if its changes are not observed.
    pub pending_changes: Option<u32>,
    /// Signals about the source; `None` without an active signal source.
    pub pending_signals: Option<PendingSignals>,
    /// Value of a fetch now, per unit of cost.
    pub value: f64,
    /// Minimum value of a fetch now, at its host.
    pub price: f64,
    /// Expected price in the long run, for a host that is not saturated.
    pub long_run_price: f64,
    /// Day on which its value reaches the price or its maximum interval is over; infinite if never.
    pub due_day: f64,
    /// Rule that determines the due day.
    pub due_reason: DueReason,
    /// State of its host.
    pub host: HostState,
    /// Importance at which it would be due now; `None` if no importance suffices.
    pub importance_to_be_due: Option<f64>,
    /// Daily budget with which it would be due now in the long run; `None` if no budget suffices.
    pub budget_to_be_due: Option<f64>,
}

/// Phase of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourcePhase {
    /// Waits for its due day.
    Waiting,
    /// Is worth its price or nearly, and waits for the budget or its host.
    Candidate,
    /// A fetch is in flight.
    InFlight,
    /// Paused by its owner.
    Paused,
    /// Gone for good and no longer fetched.
    Gone,
}

/// Rule that determines when a source is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DueReason {
    /// There is no copy yet.
    New,
    /// Its value reaches the price.
    Value,
    /// The value of its pending changes reaches the price.
    PendingChanges,
    /// Its minimum interval.
    MinInterval,
    /// Its maximum interval.
    MaxInterval,
    /// The last fetch failed or found it gone, and is retried.
    Retry,
    /// Its value never reaches the price.
    Never,
}

/// State of a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostState {
    /// Number of the host.
    pub number: u32,
    /// Requests in flight.
    pub in_flight: u32,
    /// First day on which the next request is allowed.
    pub free_at: f64,
    /// Number of its sources that are worth their price or nearly.
    pub candidates: usize,
    /// Consecutive failures.
    pub failures: u8,
    /// True if it is considered unreachable.
    pub down: bool,
    /// Its own price if it is saturated: more sources are worth the common price than it can take.
    pub price: Option<f64>,
    /// Days between two requests.
    pub gap: f64,
}

impl Engine {
    /// Explains when and why a source is due; `None` if there is no such source.
    #[must_use]
    pub fn explain(&self, id: u32) -> Option<Explanation> {
        let source = self.sources.get(id as usize)?;
        let phase = self.phase(source)?;
        let now = self.now;
        let host = &self.hosts[source.host as usize];
        let price = self.host_price(source.host);
        let (due, due_reason) = self.due_day_and_reason(now, source, price);
        let value = if source.is_new() { f64::INFINITY } else { self.fetch_value(now, source) };
        let belief = self.belief(source);
        let importance = f64::from(source.importance);
        let value_per_importance = if importance > 0.0 {
            value / importance
        } else {
            self.fetch_value(now, &Source { importance: 1.0, ..*source })
        };
        let needed_importance = price / value_per_importance;
        Some(Explanation {
            id,
            now,
            phase,
            goal: self.goal(source),
            importance,
            cost: f64::from(source.cost),
            last_fetch: (!source.is_new()).then_some(source.last),
            belief,
            credible_interval: belief.credible_interval(0.95),
            pending_changes: source.is_observed().then_some(source.pending),
            pending_signals: self.pending_signals(id),
            value,
            price,
            long_run_price: self.long_run_price,
            due_day: due,
            due_reason,
            host: self.host_state_of(source.host, host),
            importance_to_be_due: Some(needed_importance).filter(|it| it.is_finite()),
            budget_to_be_due: self.budget_at(value),
        })
    }

    /// Phase of a source; `None` if there is no such source.
    pub(crate) fn phase(&self, source: &Source) -> Option<SourcePhase> {
        Some(match source.state {
            SourceState::Absent => return None,
            SourceState::Scheduled
                if self.rank(self.now, source) >= self.price
                    && self.now >= source.last + f64::from(source.min_interval) =>
            {
                SourcePhase::Candidate
            }
            SourceState::Waiting | SourceState::Scheduled => SourcePhase::Waiting,
            SourceState::Candidate => SourcePhase::Candidate,
            SourceState::InFlight => SourcePhase::InFlight,
            SourceState::Paused => SourcePhase::Paused,
            SourceState::Parked => SourcePhase::Gone,
        })
    }

    fn due_day_and_reason(&self, now: f64, source: &Source, price: f64) -> (f64, DueReason) {
        if source.flags.has(SourceFlags::PAUSED) || source.state == SourceState::Parked {
            return (f64::INFINITY, DueReason::Never);
        }
        if source.is_retry() && source.state == SourceState::Waiting {
            return (source.due, DueReason::Retry);
        }
        if source.is_new() {
            return (now, DueReason::New);
        }
        let day = self.due_day(now, source, price);
        let unlimited = Source { min_interval: 0.0, max_interval: f32::INFINITY, ..*source };
        let unlimited = self.due_day(now, &unlimited, price);
        let due_reason = if day == f64::INFINITY {
            DueReason::Never
        } else if unlimited < day {
            DueReason::MinInterval
        } else if unlimited > day {
            DueReason::MaxInterval
        } else if source.is_observed() {
            DueReason::PendingChanges
        } else {
            DueReason::Value
        };
        (day, due_reason)
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, now, value, price, .. } = *self;
        let (low, high) = self.credible_interval;
        writeln!(f, "source {id} on day {now:.2}: {}", self.headline())?;
        match self.last_fetch {
            None => writeln!(f, "  copy      none")?,
            Some(last) => writeln!(f, "  copy      {} old", DisplayDays(now - last))?,
        }
        let rate = self.belief.mean();
        writeln!(
            f,
            "  changes   every {} on average, 95 % interval {} to {}",
            DisplayDays(1.0 / rate),
            DisplayDays(1.0 / high),
            DisplayDays(1.0 / low),
        )?;
        if let Some(pending) = self.pending_changes {
            writeln!(f, "  pending   {pending} observed changes")?;
        }
        let share = 100.0 * value / price;
        if share.is_finite() {
            writeln!(f, "  value     {value:.4} now, {share:.0} % of the price, {price:.4}")?;
        } else {
            writeln!(f, "  price     {price:.4}")?;
        }
        writeln!(
            f,
            "  goal      {}, importance {:.4}, cost {:.4}",
            self.goal, self.importance, self.cost
        )?;
        write!(f, "  host      {}", self.host.describe(now))?;
        if value < price {
            let importance = self.importance_to_be_due.filter(|it| *it > self.importance);
            let budget = self.budget_to_be_due;
            match (importance, budget) {
                (Some(importance), Some(budget)) => write!(
                    f,
                    "\n  due now   with importance {importance:.4} or, in the long run, with a budget of {budget:.1}/day"
                )?,
                (Some(importance), None) => {
                    write!(f, "\n  due now   with importance {importance:.4}")?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Explanation {
    /// Summarizes when and why the source is due, in one line.
    #[must_use]
    pub fn headline(&self) -> String {
        let wait = self.due_day - self.now;
        let when =
            if wait > 0.0 { format!("due in {}", DisplayDays(wait)) } else { "due now".to_owned() };
        match (self.phase, self.due_reason) {
            (SourcePhase::InFlight, _) => "fetch in flight".to_owned(),
            (SourcePhase::Paused, _) => "paused".to_owned(),
            (SourcePhase::Gone, _) => "gone, no longer fetched".to_owned(),
            (_, DueReason::New) => format!("{when}: no copy yet"),
            (_, DueReason::Never) => "never due: its value stays below the price".to_owned(),
            (_, DueReason::Retry) => format!("{when}: retry after a failed fetch"),
            (_, DueReason::MinInterval) => {
                format!("{when}: its value reached the price, but its minimum interval is not over")
            }
            (_, DueReason::MaxInterval) => format!("{when}: its maximum interval ends"),
            (_, DueReason::PendingChanges) => {
                format!("{when}: the value of its pending changes reaches the price")
            }
            (SourcePhase::Candidate, DueReason::Value) if wait > 0.0 => {
                format!("{when}: its value is close to the price")
            }
            (_, DueReason::Value) => format!("{when}: its value reaches the price"),
        }
    }
}

impl HostState {
    fn describe(&self, now: f64) -> String {
        let Self { number, in_flight, candidates, failures, .. } = *self;
        let mut text = format!("{number}: ");
        text += &match (in_flight, self.free_at - now) {
            (0, pause) if pause > 0.0 => format!("pauses for {}", DisplayDays(pause)),
            (0, _) => "idle".to_owned(),
            (1, _) => "1 fetch in flight".to_owned(),
            (count, _) => format!("{count} fetches in flight"),
        };
        let plural = if candidates == 1 { "" } else { "s" };
        text += &format!(", {candidates} candidate{plural}");
        if failures > 0 {
            text += &format!(", consecutive failures: {failures}");
        }
        if let Some(price) = self.price {
            text += &format!(", saturated, own price {price:.4}");
        }
        text
    }
}

/// Displays days in a suitable unit.
struct DisplayDays(f64);

impl fmt::Display for DisplayDays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.0;
        match days {
            _ if days >= 1e7 => write!(f, "ever"),
            _ if days >= 730.0 => write!(f, "{:.1} years", days / 365.25),
            _ if days >= 2.0 => write!(f, "{days:.1} days"),
            _ if days >= 1.0 / 12.0 => write!(f, "{:.1} hours", days * 24.0),
            _ if days >= 1.0 / 720.0 => write!(f, "{:.1} minutes", days * 1440.0),
            _ => write!(f, "{:.1} seconds", days * 86_400.0),
        }
    }
}
