//! Explains when a source is due, for people and programs.

use freshet_engine::{DueReason, Engine, Explanation, SourcePhase};
use freshet_model::number::pluralize;
use freshet_model::time_format;
use freshet_store::{Reader, StoreError};
use serde::{Deserialize, Serialize};

use crate::clock::{Millis, millis_from_days};
use crate::host_status::HostStatus;

/// Shorter cooldowns are not reported: they are ordinary gaps.
const MIN_COOLDOWN_DAYS: f64 = 5.0 / 86_400.0;

/// Headline of all sources without a budget.
const NO_BUDGET_HEADLINE: &str = "not due: the budget is 0 a day, so nothing is fetched";

/// Explains when a source is due.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceExplanation {
    /// State of the source: `waiting`, `candidate`, `fetching`, `paused` or `gone`.
    pub standing: String,
    /// The deciding reason, in a sentence.
    pub headline: String,
    /// The whole explanation, in several lines.
    pub text: String,
    /// Time at which the source is due and its host available, if known.
    #[serde(rename = "due")]
    pub due_at: Option<Millis>,
    /// End of the host's cooldown, if the source waits for it.
    #[serde(default, rename = "host_rests")]
    pub host_cooldown_until: Option<Millis>,
    /// Estimated changes per day.
    pub changes_a_day: f64,
    /// 95 % credible interval of `changes_a_day`.
    #[serde(rename = "between")]
    pub rate_interval: (f64, f64),
    /// Current value of a fetch, per unit of cost.
    #[serde(rename = "worth")]
    pub value: Option<f64>,
    /// Price that the value must reach.
    pub price: f64,
    /// Probability that the copy is fresh; `None` without a copy.
    #[serde(rename = "fresh")]
    pub fresh_probability: Option<f64>,
    /// What determines the due time: `new`, `worth`, `pending`, the `shortest` or `longest`
    /// interval, `retry` or `never`.
    #[serde(default, rename = "because")]
    pub due_reason: String,
    /// Time of the last fetch that was answered.
    #[serde(default, rename = "last")]
    pub last_fetch_at: Option<Millis>,
    /// Time of this explanation.
    #[serde(default, rename = "now")]
    pub explained_at: Millis,
    /// Time at which the source is due by its value or longest interval, if its host were
    /// available.
    #[serde(default, rename = "worth_it")]
    pub due_without_host: Option<Millis>,
    /// Value of a fetch over time, from the last fetch to past the time at which it reaches the
    /// price.
    #[serde(default, rename = "climb")]
    pub value_curve: Vec<(Millis, f64)>,
    /// Objective of its copy.
    #[serde(default)]
    pub goal: String,
    /// Importance weight.
    #[serde(default)]
    pub importance: f64,
    /// Cost of a fetch, in units of the budget.
    #[serde(default)]
    pub cost: f64,
    /// Announced changes since the last fetch; `None` if none are announced at all.
    #[serde(default)]
    pub pending: Option<u32>,
    /// Status of its host.
    #[serde(default)]
    pub host: HostStatus,
    /// Importance at which the source would be due now; `None` if no importance suffices.
    #[serde(default)]
    pub importance_to_be_due: Option<f64>,
    /// Budget in fetches per day at which the source would be due now in the long run; `None` if
    /// none suffices.
    #[serde(default)]
    pub budget_to_be_due: Option<f64>,
    /// True if nothing is fetched because the budget is 0; the price is meaningless then.
    #[serde(default, rename = "unpaid")]
    pub is_unpaid: bool,
    /// Signals that affect the due time; `None` if no trusted signal source covers the source.
    #[serde(default)]
    pub signals: Option<SignalExplanation>,
}

/// Effect of signals on when a source is due.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SignalExplanation {
    /// Id of the signal source.
    #[serde(rename = "number")]
    pub id: u32,
    /// Its URL or name.
    pub name: String,
    /// Its kind: `sitemap`, `feed`, …
    pub kind: String,
    /// Signals since the last fetch.
    #[serde(rename = "signals")]
    pub pending: u32,
    /// Combined weight of those signals.
    pub weight: f64,
    /// Time of the first of them, if any.
    #[serde(rename = "first")]
    pub first_at: Option<Millis>,
    /// Time of the last of them, if any.
    #[serde(rename = "last")]
    pub last_at: Option<Millis>,
    /// Estimated share of its signals about this source that indicate a change.
    pub precision: f64,
    /// Estimated share of the source's changes that it signals.
    pub recall: f64,
    /// Probability that the copy is fresh.
    #[serde(rename = "fresh")]
    pub fresh_probability: f64,
    /// Fetches of any source that followed one of its signals.
    pub tried: u64,
    /// Number of those that found a change.
    #[serde(rename = "proved")]
    pub confirmed: u64,
    /// Due time without these signals; `None` for never.
    pub due_without: Option<Millis>,
    /// Seconds by which they moved the next fetch forward; `None` if either time is unknown.
    #[serde(rename = "moved")]
    pub seconds_moved: Option<f64>,
}

impl SignalExplanation {
    fn from_explanation(engine: &Engine, it: &Explanation) -> Option<Self> {
        let pending = it.pending_signals?;
        let report = engine.signal_source(pending.signal_source).unwrap_or_default();
        let waits = matches!(it.phase, SourcePhase::Waiting | SourcePhase::Candidate);
        let waits = waits && !matches!(it.due_reason, DueReason::Retry | DueReason::New);
        let moved = 86_400.0 * (pending.due_without_signals - it.due_day);
        Some(Self {
            id: pending.signal_source,
            pending: pending.count,
            weight: pending.effective_count,
            first_at: pending.first_and_last.map(|(first, _)| millis_from_days(first)),
            last_at: pending.first_and_last.map(|(_, last)| millis_from_days(last)),
            precision: pending.precision,
            recall: pending.recall,
            fresh_probability: pending.fresh_probability,
            tried: report.signalled_fetches,
            confirmed: report.confirmed_fetches,
            due_without: pending
                .due_without_signals
                .is_finite()
                .then(|| millis_from_days(pending.due_without_signals)),
            seconds_moved: Some(moved).filter(|it| waits && it.is_finite()),
            ..Self::default()
        })
    }

    /// Describes the signals in a phrase: their number, precision and effect.
    #[must_use]
    pub fn describe(&self, due: Option<Millis>, now: Millis) -> String {
        let Self { name, tried, confirmed, .. } = self;
        let Some(first) = self.first_at.filter(|_| self.pending > 0) else {
            let recall = 100.0 * self.recall;
            return format!(
                "{name}, which signals about {recall:.0} % of its changes, has sent no signal since \
                 the last fetch"
            );
        };
        let signals = pluralize(self.pending as usize, "signal", "signals");
        let since = match self.pending {
            1 => time_format::format_relative(first, now),
            _ => format!("the first {}", time_format::format_relative(first, now)),
        };
        let precision = match tried {
            0 => String::new(),
            tried => format!(" (confirmed {confirmed} of {tried} times)"),
        };
        let mut text = format!("{signals} of {name}, {since}{precision}");
        let next = |at: Millis| time_format::format_relative(at.max(now), now);
        match (due, self.seconds_moved, self.due_without) {
            (Some(due), Some(moved), Some(without)) if moved >= 1.0 => {
                text += &format!(": next fetch {} instead of {}", next(due), next(without));
            }
            (Some(_), Some(_), _) => text += ": the next fetch is not moved",
            (Some(due), None, None) => {
                text += &format!(": next fetch {} instead of never", next(due));
            }
            _ => {}
        }
        text
    }
}

impl SourceExplanation {
    /// Looks up the name of the signal source.
    pub(crate) fn name_signal_source(&mut self, reader: &Reader) -> Result<(), StoreError> {
        let Some(signals) = &mut self.signals else { return Ok(()) };
        let Some(signal_source) = reader.signal_source(signals.id)? else { return Ok(()) };
        (signals.name, signals.kind) = (signal_source.name, signal_source.kind.name().to_owned());
        let text =
            signals.describe(self.due_without_host.filter(|_| !self.is_unpaid), self.explained_at);
        self.text += &format!("\n  signals   {text}");
        Ok(())
    }

    /// Explains a source of an engine. Returns `None` if it does not exist.
    #[must_use]
    pub fn from_engine(engine: &Engine, id: u32) -> Option<Self> {
        let (it, budget) = (engine.explain(id)?, engine.settings().budget);
        let value_curve =
            engine.value_curve(&it).into_iter().filter(|(_, worth)| worth.is_finite());
        let value_curve = value_curve.map(|(day, worth)| (millis_from_days(day), worth)).collect();
        let (host, signals) =
            (HostStatus::new(engine, &it.host), SignalExplanation::from_explanation(engine, &it));
        Some(Self { value_curve, host, signals, ..Self::from_explanation(&it, budget) })
    }

    /// Converts the engine's explanation, given the budget in fetches per day.
    fn from_explanation(it: &Explanation, budget: f64) -> Self {
        let standing = match it.phase {
            SourcePhase::Waiting => "waiting",
            SourcePhase::Candidate => "candidate",
            SourcePhase::InFlight => "fetching",
            SourcePhase::Paused => "paused",
            SourcePhase::Gone => "gone",
        };
        let waits = matches!(it.phase, SourcePhase::Waiting | SourcePhase::Candidate);
        // An ordinary gap is not worth reporting.
        let cooldown_until = (waits
            && it.host.free_at > it.due_day.max(it.now) + MIN_COOLDOWN_DAYS)
            .then_some(it.host.free_at);
        let unpaid = waits && budget <= 0.0;
        let due = if unpaid { f64::INFINITY } else { cooldown_until.unwrap_or(it.due_day) };
        let (mut headline, mut text) = (it.headline(), it.to_string());
        if unpaid {
            let pending = std::mem::replace(&mut headline, NO_BUDGET_HEADLINE.to_owned());
            text = text.replacen(&pending, NO_BUDGET_HEADLINE, 1);
            // Without a budget, the last price and value are meaningless.
            let lines = text.lines();
            let lines =
                lines.filter(|it| !["  price ", "  worth "].iter().any(|no| it.starts_with(no)));
            text = lines.collect::<Vec<_>>().join("\n");
        }
        let age = it.last_fetch.map(|last| (it.now - last).max(0.0));
        Self {
            standing: standing.to_owned(),
            headline,
            text,
            due_at: due.is_finite().then(|| millis_from_days(due)),
            host_cooldown_until: cooldown_until.filter(|day| day.is_finite()).map(millis_from_days),
            changes_a_day: it.belief.mean(),
            rate_interval: it.credible_interval,
            value: it.value.is_finite().then_some(it.value),
            price: it.price,
            // Signals, or their absence, say more than elapsed time alone.
            fresh_probability: age.map(|days| {
                it.pending_signals
                    .map_or(it.belief.no_change_probability(days), |it| it.fresh_probability)
            }),
            due_reason: reason_name(it.due_reason).to_owned(),
            last_fetch_at: it.last_fetch.map(millis_from_days),
            explained_at: millis_from_days(it.now),
            due_without_host: it.due_day.is_finite().then(|| millis_from_days(it.due_day)),
            value_curve: Vec::new(),
            goal: it.goal.to_string(),
            importance: it.importance,
            cost: it.cost,
            pending: it.pending_changes,
            host: HostStatus::default(),
            importance_to_be_due: it.importance_to_be_due.filter(|it| it.is_finite()),
            budget_to_be_due: it.budget_to_be_due.filter(|it| it.is_finite()),
            is_unpaid: unpaid,
            signals: None,
        }
    }
}

fn reason_name(because: DueReason) -> &'static str {
    match because {
        DueReason::New => "new",
        DueReason::Value => "worth",
        DueReason::PendingChanges => "pending",
        DueReason::MinInterval => "shortest",
        DueReason::MaxInterval => "longest",
        DueReason::Retry => "retry",
        DueReason::Never => "never",
    }
}
