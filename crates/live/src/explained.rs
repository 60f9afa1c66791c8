//! Why a source is due when it is, for people and for programs.

use freshet_engine::{Because, Engine, Explanation, Standing};
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
}

impl Explained {
    /// What an engine says of a source; `None` if there is no such source.
    #[must_use]
    pub fn by(engine: &Engine, id: u32) -> Option<Self> {
        let (it, budget) = (engine.explain(id)?, engine.settings().budget);
        let climb = engine.climb(&it).into_iter().filter(|(_, worth)| worth.is_finite());
        let climb = climb.map(|(day, worth)| (millis(day), worth)).collect();
        Some(Self { climb, host: HostNow::of(engine, &it.host), ..Self::of(&it, budget) })
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
            fresh: age.map(|days| it.belief.no_change(days)),
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
