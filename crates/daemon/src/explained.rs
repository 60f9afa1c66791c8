//! Why a source is due when it is, for people and for programs.

use freshet_engine::{Because, Engine, Explanation, Standing};
use freshet_model::moment;
use freshet_model::number::plural;
use freshet_store::{Reader, StoreError};
use serde::{Deserialize, Serialize};

use crate::clock::{Millis, millis};
use crate::hosts::HostNow;

/// Days that a host rests without a word.
const SHORT: f64 = 5.0 / 86_400.0;

/// What decides if nothing can be paid for.
const UNPAID: &str = "not due: the budget is 0 a day, so nothing is fetched";

/// Why a source is due when it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Explained {
    /// Where it stands, in a word: `waiting`, `candidate`, `fetching`, `paused` or `gone`.
    pub standing: String,
    /// What decides, in a sentence.
    pub headline: String,
    /// All of it, in several lines.
    pub text: String,
    /// When it is due and its host may be asked, if that is known.
    pub due: Option<Millis>,
    /// Until when its host is left alone, if that is what it waits for.
    #[serde(default)]
    pub host_rests: Option<Millis>,
    /// Changes a day, as far as is believed, and between which the true number is with a chance of
    /// 95 %.
    pub changes_a_day: f64,
    /// The bounds of that.
    pub between: (f64, f64),
    /// What a fetch is worth now, for each unit of cost.
    pub worth: Option<f64>,
    /// What it must be worth.
    pub price: f64,
    /// The chance that the copy is what the source is, as far as is believed; `None` without a copy.
    pub fresh: Option<f64>,
    /// What decides when it is due, in a word: `new`, `worth`, `pending`, `shortest` or `longest`
    /// interval, `retry` or `never`.
    #[serde(default)]
    pub because: String,
    /// The last fetch that was answered.
    #[serde(default)]
    pub last: Option<Millis>,
    /// When all this was said.
    #[serde(default)]
    pub now: Millis,
    /// When it is worth the price, or has to be fetched, whatever its host does.
    #[serde(default)]
    pub worth_it: Option<Millis>,
    /// How the worth of a fetch climbs to the price: moments from the last fetch to past the one at which
    /// it is due, and what a fetch is worth then.
    #[serde(default)]
    pub climb: Vec<(Millis, f64)>,
    /// What its copy is to be good for.
    #[serde(default)]
    pub goal: String,
    /// How much it matters.
    #[serde(default)]
    pub importance: f64,
    /// What a fetch takes from the budget.
    #[serde(default)]
    pub cost: f64,
    /// Changes that were announced and not fetched; `None` if none are announced at all.
    #[serde(default)]
    pub pending: Option<u32>,
    /// What its host is doing.
    #[serde(default)]
    pub host: HostNow,
    /// How important it would have to be to be due now; `None` if no importance would do.
    #[serde(default)]
    pub importance_to_be_due: Option<f64>,
    /// The fetches a day with which it would be due now in the long run; `None` if none would do.
    #[serde(default)]
    pub budget_to_be_due: Option<f64>,
    /// Whether nothing is fetched because the budget is 0: then no price is a price.
    #[serde(default)]
    pub unpaid: bool,
    /// What signals have to do with it; `None` if nobody who is trusted speaks of it.
    #[serde(default)]
    pub signals: Option<SignalsNow>,
}

/// What signals have to do with the day on which a source is due.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SignalsNow {
    /// The number of the signal source that is listened to.
    pub number: u32,
    /// Its URL or name.
    pub name: String,
    /// What it is, in a word: `sitemap`, `feed`, …
    pub kind: String,
    /// Its signals since the last fetch.
    pub signals: u32,
    /// What they count together.
    pub weight: f64,
    /// When the first of them came, if there are any.
    pub first: Option<Millis>,
    /// And the last.
    pub last: Option<Millis>,
    /// The share of its signals about this source that stand for a change, as far as is believed.
    pub precision: f64,
    /// The share of this source's changes that it tells of.
    pub recall: f64,
    /// The chance that the copy is what the source is.
    pub fresh: f64,
    /// Fetches that its signals came before, of any source.
    pub tried: u64,
    /// How many of them found a change.
    pub proved: u64,
    /// When the source would be due if these signals had not come; `None`: never.
    pub due_without: Option<Millis>,
    /// By how many seconds they moved the next fetch forward; `None` if one of the two is not known.
    pub moved: Option<f64>,
}

impl SignalsNow {
    fn of(engine: &Engine, it: &Explanation) -> Option<Self> {
        let said = it.announced?;
        let report = engine.herald(said.herald).unwrap_or_default();
        let waits = matches!(it.standing, Standing::Waiting | Standing::Candidate);
        let waits = waits && !matches!(it.because, Because::Retry | Because::New);
        let moved = 86_400.0 * (said.due_without - it.due);
        Some(Self {
            number: said.herald,
            signals: said.signals,
            weight: said.weight,
            first: said.days.map(|(first, _)| millis(first)),
            last: said.days.map(|(_, last)| millis(last)),
            precision: said.precision,
            recall: said.recall,
            fresh: said.fresh,
            tried: report.tried,
            proved: report.proved,
            due_without: said.due_without.is_finite().then(|| millis(said.due_without)),
            moved: Some(moved).filter(|it| waits && it.is_finite()),
            ..Self::default()
        })
    }

    /// In a sentence without an end: how many signals there are, how true, and what they did.
    #[must_use]
    pub fn words(&self, due: Option<Millis>, now: Millis) -> String {
        let Self { name, tried, proved, .. } = self;
        let Some(first) = self.first.filter(|_| self.signals > 0) else {
            let recall = 100.0 * self.recall;
            return format!(
                "{name}, which tells of about {recall:.0} % of its changes, has said nothing since \
                 the last fetch"
            );
        };
        let signals = plural(self.signals as usize, "signal", "signals");
        let since = match self.signals {
            1 => moment::from_now(first, now),
            _ => format!("the first {}", moment::from_now(first, now)),
        };
        let true_times = match tried {
            0 => String::new(),
            tried => format!(" (true {proved} times of {tried})"),
        };
        let mut words = format!("{signals} of {name}, {since}{true_times}");
        let next = |at: Millis| moment::from_now(at.max(now), now);
        match (due, self.moved, self.due_without) {
            (Some(due), Some(moved), Some(without)) if moved >= 1.0 => {
                words += &format!(": next fetch {} instead of {}", next(due), next(without));
            }
            (Some(_), Some(_), _) => words += ": that does not move the next fetch",
            (Some(due), None, None) => {
                words += &format!(": next fetch {} instead of never", next(due));
            }
            _ => {}
        }
        words
    }
}

impl Explained {
    /// Finds out what the signal source is called that speaks of it.
    pub(crate) fn name_herald(&mut self, reader: &Reader) -> Result<(), StoreError> {
        let Some(signals) = &mut self.signals else { return Ok(()) };
        let Some(herald) = reader.signal_source(signals.number)? else { return Ok(()) };
        (signals.name, signals.kind) = (herald.name, herald.kind.name().to_owned());
        let words = signals.words(self.worth_it.filter(|_| !self.unpaid), self.now);
        self.text += &format!("\n  signals   {words}");
        Ok(())
    }

    /// What an engine says of a source; `None` if there is no such source.
    #[must_use]
    pub fn by(engine: &Engine, id: u32) -> Option<Self> {
        let (it, budget) = (engine.explain(id)?, engine.settings().budget);
        let climb = engine.value_curve(&it).into_iter().filter(|(_, worth)| worth.is_finite());
        let climb = climb.map(|(day, worth)| (millis(day), worth)).collect();
        let (host, signals) = (HostNow::of(engine, &it.host), SignalsNow::of(engine, &it));
        Some(Self { climb, host, signals, ..Self::of(&it, budget) })
    }

    /// From what the engine says, with so many fetches a day.
    fn of(it: &Explanation, budget: f64) -> Self {
        let standing = match it.standing {
            Standing::Waiting => "waiting",
            Standing::Candidate => "candidate",
            Standing::Asked => "fetching",
            Standing::Paused => "paused",
            Standing::Gone => "gone",
        };
        let waits = matches!(it.standing, Standing::Waiting | Standing::Candidate);
        // The usual gap between two fetches is nothing to tell of.
        let rests = (waits && it.host.free > it.due.max(it.now) + SHORT).then_some(it.host.free);
        let unpaid = waits && budget <= 0.0;
        let due = if unpaid { f64::INFINITY } else { rests.unwrap_or(it.due) };
        let (mut headline, mut text) = (it.headline(), it.to_string());
        if unpaid {
            let said = std::mem::replace(&mut headline, UNPAID.to_owned());
            text = text.replacen(&said, UNPAID, 1);
            // What was paid before is none of today's.
            let lines = text.lines();
            let lines =
                lines.filter(|it| !["  price ", "  worth "].iter().any(|no| it.starts_with(no)));
            text = lines.collect::<Vec<_>>().join("\n");
        }
        let age = it.last.map(|last| (it.now - last).max(0.0));
        Self {
            standing: standing.to_owned(),
            headline,
            text,
            due: due.is_finite().then(|| millis(due)),
            host_rests: rests.filter(|day| day.is_finite()).map(millis),
            changes_a_day: it.belief.mean(),
            between: it.between,
            worth: it.worth.is_finite().then_some(it.worth),
            price: it.price,
            // What was said, or was not, tells more than time alone.
            fresh: age.map(|days| it.announced.map_or(it.belief.no_change(days), |it| it.fresh)),
            because: word(it.because).to_owned(),
            last: it.last.map(millis),
            now: millis(it.now),
            worth_it: it.due.is_finite().then(|| millis(it.due)),
            climb: Vec::new(),
            goal: it.goal.to_string(),
            importance: it.importance,
            cost: it.cost,
            pending: it.pending,
            host: HostNow::default(),
            importance_to_be_due: it.importance_to_be_due.filter(|it| it.is_finite()),
            budget_to_be_due: it.budget_to_be_due.filter(|it| it.is_finite()),
            unpaid,
            signals: None,
        }
    }
}

fn word(because: Because) -> &'static str {
    match because {
        Because::New => "new",
        Because::Worth => "worth",
        Because::Pending => "pending",
        Because::Shortest => "shortest",
        Because::Longest => "longest",
        Because::Retry => "retry",
        Because::Never => "never",
    }
}
