//! Why a source is due when it is, for people and for programs.

use freshet_engine::{Explanation, Standing};
use serde::{Deserialize, Serialize};

use crate::clock::{Millis, millis};

/// Days that a host rests without a word.
const SHORT: f64 = 5.0 / 86_400.0;

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
}

impl Explained {
    /// From what the engine says.
    #[must_use]
    pub fn of(it: &Explanation) -> Self {
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
        let due = rests.unwrap_or(it.due);
        let age = it.last.map(|last| (it.now - last).max(0.0));
        Self {
            standing: standing.to_owned(),
            headline: it.headline(),
            text: it.to_string(),
            due: due.is_finite().then(|| millis(due)),
            host_rests: rests.filter(|day| day.is_finite()).map(millis),
            changes_a_day: it.belief.mean(),
            between: it.between,
            worth: it.worth.is_finite().then_some(it.worth),
            price: it.price,
            fresh: age.map(|days| it.belief.no_change(days)),
        }
    }
}
