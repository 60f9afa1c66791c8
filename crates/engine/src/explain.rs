//! Why a source is due when it is.

use std::fmt;

use freshet_estimate::Belief;

use crate::engine::Engine;
use crate::signal_source::PendingSignals;
use crate::source::{Flags, Goal, Source, State};

/// Why a source is due when it is: what [`Engine::explain`] says. Days are the engine's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explanation {
    /// Which source.
    pub id: u32,
    /// The day on which this was said.
    pub now: f64,
    /// Where it stands.
    pub standing: Standing,
    /// What its copy is to be good for.
    pub goal: Goal,
    /// How much it matters, and what a fetch takes from the budget.
    pub importance: f64,
    /// What a fetch takes from the budget.
    pub cost: f64,
    /// The last fetch that was answered.
    pub last: Option<f64>,
    /// What is believed of its change rate.
    pub belief: Belief,
    /// The change rates between which the true one is with a chance of 95 %.
    pub between: (f64, f64),
    /// Changes that were announced and not fetched; `None` if none are announced at all.
    pub pending: Option<u32>,
    /// What heralds have to do with it; `None` if nobody spoke of it.
    pub announced: Option<PendingSignals>,
    /// What a fetch is worth now for each unit of cost.
    pub worth: f64,
    /// What a fetch must be worth now, here.
    pub price: f64,
    /// The same in the long run, if no host stands in the way.
    pub outlook: f64,
    /// The day on which it is worth the price, or has to be fetched; infinite if never.
    pub due: f64,
    /// What decides on that day.
    pub because: Because,
    /// What its host is doing.
    pub host: HostState,
    /// How important it would have to be to be due now; `None` if no importance would do.
    pub importance_to_be_due: Option<f64>,
    /// The budget with which it would be due now in the long run; `None` if none would do.
    pub budget_to_be_due: Option<f64>,
}

/// Where a source stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It waits for its day.
    Waiting,
    /// It is worth its price or nearly: it waits for the budget, or its host.
    Candidate,
    /// It is being fetched.
    Asked,
    /// Its owner wants it left alone.
    Paused,
    /// It is gone, and nobody asks any more.
    Gone,
}

/// What decides when a source is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// There is no copy of it.
    New,
    /// Its worth reaches the price.
    Worth,
    /// Its announced changes are worth the price.
    Pending,
    /// Its owner allows no shorter interval.
    Shortest,
    /// Its owner allows no longer interval.
    Longest,
    /// The last fetch failed, or found it gone: it is tried again.
    Retry,
    /// It will never be worth the price.
    Never,
}

/// What a host is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostState {
    /// Which host.
    pub number: u32,
    /// Fetches under way.
    pub asked: u32,
    /// The day from which on it may be asked again.
    pub free: f64,
    /// Sources of it that are worth their price or nearly.
    pub candidates: usize,
    /// Failures in a row.
    pub failures: u8,
    /// Whether it is taken to be out of reach.
    pub down: bool,
    /// Its own price, if more is worth the common one than it can take.
    pub price: Option<f64>,
    /// Days between two fetches.
    pub gap: f64,
}

impl Engine {
    /// Why a source is due when it is; `None` if there is no such source.
    #[must_use]
    pub fn explain(&self, id: u32) -> Option<Explanation> {
        let source = self.sources.get(id as usize)?;
        let standing = self.standing(source)?;
        let now = self.now;
        let host = &self.hosts[source.host as usize];
        let price = self.price_at(source.host);
        let (due, because) = self.due_because(now, source, price);
        let worth = if source.is_new() { f64::INFINITY } else { self.worth(now, source) };
        let belief = self.belief(source);
        let importance = f64::from(source.importance);
        let for_one = if importance > 0.0 {
            worth / importance
        } else {
            self.worth(now, &Source { importance: 1.0, ..*source })
        };
        let needed = price / for_one;
        Some(Explanation {
            id,
            now,
            standing,
            goal: self.goal(source),
            importance,
            cost: f64::from(source.cost),
            last: (!source.is_new()).then_some(source.last),
            belief,
            between: belief.credible(0.95),
            pending: source.is_observed().then_some(source.pending),
            announced: self.announced(id),
            worth,
            price,
            outlook: self.outlook,
            due,
            because,
            host: self.state_of(source.host, host),
            importance_to_be_due: Some(needed).filter(|it| it.is_finite()),
            budget_to_be_due: self.budget_at(worth),
        })
    }

    /// Where a source stands; `None` if there is no such source.
    pub(crate) fn standing(&self, source: &Source) -> Option<Standing> {
        Some(match source.state {
            State::Absent => return None,
            State::Coming
                if self.rank(self.now, source) >= self.price
                    && self.now >= source.last + f64::from(source.min_interval) =>
            {
                Standing::Candidate
            }
            State::Waiting | State::Coming => Standing::Waiting,
            State::Ready => Standing::Candidate,
            State::Asked => Standing::Asked,
            State::Paused => Standing::Paused,
            State::Parked => Standing::Gone,
        })
    }

    fn due_because(&self, now: f64, source: &Source, price: f64) -> (f64, Because) {
        if source.flags.has(Flags::PAUSED) || source.state == State::Parked {
            return (f64::INFINITY, Because::Never);
        }
        if source.is_retried() && source.state == State::Waiting {
            return (source.due, Because::Retry);
        }
        if source.is_new() {
            return (now, Because::New);
        }
        let day = self.due(now, source, price);
        let free = Source { min_interval: 0.0, max_interval: f32::INFINITY, ..*source };
        let free = self.due(now, &free, price);
        let because = if day == f64::INFINITY {
            Because::Never
        } else if free < day {
            Because::Shortest
        } else if free > day {
            Because::Longest
        } else if source.is_observed() {
            Because::Pending
        } else {
            Because::Worth
        };
        (day, because)
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, now, worth, price, .. } = *self;
        let (low, high) = self.between;
        writeln!(f, "source {id} on day {now:.2}: {}", self.headline())?;
        match self.last {
            None => writeln!(f, "  copy      none yet")?,
            Some(last) => writeln!(f, "  copy      {} old", Span(now - last))?,
        }
        let rate = self.belief.mean();
        writeln!(
            f,
            "  changes   every {} on average, with 95 % between {} and {}",
            Span(1.0 / rate),
            Span(1.0 / high),
            Span(1.0 / low),
        )?;
        if let Some(pending) = self.pending {
            writeln!(f, "  announced {pending} not fetched yet")?;
        }
        let share = 100.0 * worth / price;
        if share.is_finite() {
            writeln!(f, "  worth     {worth:.4} now, {share:.0} % of the price, {price:.4}")?;
        } else {
            writeln!(f, "  price     {price:.4}")?;
        }
        writeln!(
            f,
            "  goal      {}, importance {:.4}, cost {:.4}",
            self.goal, self.importance, self.cost
        )?;
        write!(f, "  host      {}", self.host.describe(now))?;
        if worth < price {
            let importance = self.importance_to_be_due.filter(|it| *it > self.importance);
            let budget = self.budget_to_be_due;
            match (importance, budget) {
                (Some(importance), Some(budget)) => write!(
                    f,
                    "\n  earlier   at an importance of {importance:.4} it would be due now, or, in the \
                     long run, with a budget of {budget:.1} a day"
                )?,
                (Some(importance), None) => {
                    write!(
                        f,
                        "\n  earlier   at an importance of {importance:.4} it would be due now"
                    )?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Explanation {
    /// In one line: when, and why.
    #[must_use]
    pub fn headline(&self) -> String {
        let wait = self.due - self.now;
        let when = if wait > 0.0 { format!("due in {}", Span(wait)) } else { "due now".to_owned() };
        match (self.standing, self.because) {
            (Standing::Asked, _) => "being fetched".to_owned(),
            (Standing::Paused, _) => "paused by its owner".to_owned(),
            (Standing::Gone, _) => "gone, and not asked for any more".to_owned(),
            (_, Because::New) => format!("{when}: there is no copy yet"),
            (_, Because::Never) => "not due: it will not be worth the price".to_owned(),
            (_, Because::Retry) => format!("{when}: the last fetch failed"),
            (_, Because::Shortest) => {
                format!("{when}: worth it before, but too soon for its owner")
            }
            (_, Because::Longest) => format!("{when}: its owner wants it by then"),
            (_, Because::Pending) => format!("{when}: its announced changes are worth the price"),
            (Standing::Candidate, Because::Worth) if wait > 0.0 => {
                format!("nearly worth the price, {when}")
            }
            (_, Because::Worth) => format!("{when}, when it is worth the price"),
        }
    }
}

impl HostState {
    fn describe(&self, now: f64) -> String {
        let Self { number, asked, candidates, failures, .. } = *self;
        let mut words = format!("{number}: ");
        words += &match (asked, self.free - now) {
            (0, rest) if rest > 0.0 => format!("rests for {}", Span(rest)),
            (0, _) => "free".to_owned(),
            (1, _) => "busy with 1 fetch".to_owned(),
            (some, _) => format!("busy with {some} fetches"),
        };
        let plural = if candidates == 1 { "" } else { "s" };
        words += &format!(", {candidates} candidate{plural}");
        if failures > 0 {
            words += &format!(", failures in a row: {failures}");
        }
        if let Some(price) = self.price {
            words += &format!(", saturated: its own price is {price:.4}");
        }
        words
    }
}

/// Days, in a unit that suits them.
struct Span(f64);

impl fmt::Display for Span {
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
