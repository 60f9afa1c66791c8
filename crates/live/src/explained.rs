//! Why a source is due when it is, for people and for programs.

use freshet_engine::{Explanation, Standing};
use serde::{Deserialize, Serialize};

use crate::clock::{Millis, millis};

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
    /// Whether nothing is fetched because the budget is 0: then no price is a price.
    #[serde(default)]
    pub unpaid: bool,
}

impl Explained {
    /// From what the engine says, with so many fetches a day.
    #[must_use]
    pub fn of(it: &Explanation, budget: f64) -> Self {
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
            unpaid,
        }
    }
}
