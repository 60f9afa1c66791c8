//! What happened to a source, in words and for programs.

use freshet_sim::{Because, Explanation, Moment, Outcome, Reason, Standing, Story, What};
use serde::Serialize;

use crate::commands::plan::finite;
use crate::commands::simulate::explain::timeline::span;
use crate::number::significant;

/// How much a moment matters to those who cannot see all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Something is different from then on.
    Turning,
    Ordinary,
    /// The next fetch tells.
    Told,
}

impl Weight {
    pub(super) const ALL: [Self; 3] = [Self::Turning, Self::Ordinary, Self::Told];
}

pub(super) fn weight(moment: &Moment) -> Weight {
    match moment.what {
        What::Changed | What::Announced if moment.missed > 1 => Weight::Told,
        What::Fetched { .. } | What::Changed | What::Announced | What::Signalled | What::Waits => {
            Weight::Ordinary
        }
        _ => Weight::Turning,
    }
}

/// In a few words.
pub(super) fn words(moment: &Moment) -> String {
    match moment.what {
        What::Described => "described, with a copy".to_owned(),
        What::Removed => "removed".to_owned(),
        What::Changed if moment.missed > 1 => {
            format!("changes again: {} not seen yet", moment.missed)
        }
        What::Changed => "changes: not seen yet".to_owned(),
        What::Announced => "changes, and says so".to_owned(),
        What::Signalled if moment.missed == 0 => "signalled, and the copy is up to date".to_owned(),
        What::Signalled => "signalled".to_owned(),
        What::Fetched { reason, outcome, asked } => {
            let late = match moment.day - asked {
                wait if wait > 0.0 => format!(", answered after {}", span(wait)),
                _ => String::new(),
            };
            format!("fetched ({}): {}{late}", reason_words(reason), outcome_words(outcome))
        }
        What::GivenUp => "gone: not asked for any more".to_owned(),
        What::HostDown => "its host is given up for now".to_owned(),
        What::HostBack => "its host is back".to_owned(),
        What::Budget(budget) => format!("budget {}/day", significant(budget)),
        What::Rate(factor) => format!("changes {} times as often", significant(factor)),
        What::Waits => "waits".to_owned(),
        What::End => "end".to_owned(),
    }
}

fn reason_words(reason: Reason) -> &'static str {
    match reason {
        Reason::New => "no copy",
        Reason::Worth => "worth it",
        Reason::Pending => "announced",
        Reason::Overdue => "overdue",
        Reason::Retry => "retry",
        Reason::Spare => "spare",
    }
}

fn outcome_words(outcome: Outcome) -> String {
    match outcome {
        Outcome::Changed { times: 1 } => "changed".to_owned(),
        Outcome::Changed { times } => format!("changed, {times} times"),
        Outcome::Unchanged => "unchanged".to_owned(),
        Outcome::Failed => "failed".to_owned(),
        Outcome::Gone => "gone".to_owned(),
    }
}

/// When a source is fetched next, and why.
pub(super) fn next(it: &Explanation) -> String {
    let why = match (it.standing, it.because) {
        (Standing::Asked, _) => return "being fetched".to_owned(),
        (Standing::Paused, _) => return "paused".to_owned(),
        (Standing::Gone, _) => return "gone".to_owned(),
        (_, Because::Never) => return "never worth it".to_owned(),
        (_, Because::New) => "no copy",
        (_, Because::Worth) => "worth it",
        (_, Because::Pending) => "announced",
        (_, Because::Shortest) => "not earlier",
        (_, Because::Longest) => "not later",
        (_, Because::Retry) => "retry",
    };
    if it.due <= it.now { format!("now: {why}") } else { format!("day {:.2}: {why}", it.due) }
}

/// A moment, for programs.
#[derive(Serialize)]
pub(super) struct Object {
    day: f64,
    event: &'static str,
    reason: Option<&'static str>,
    outcome: Option<&'static str>,
    changes: Option<u32>,
    asked: Option<f64>,
    budget: Option<f64>,
    factor: Option<f64>,
    age: Option<f64>,
    missed: u32,
    true_interval: Option<f64>,
    interval: Option<f64>,
    interval_low: Option<f64>,
    interval_high: Option<f64>,
    worth: Option<f64>,
    price: Option<f64>,
    standing: Option<&'static str>,
    due: Option<f64>,
    because: Option<&'static str>,
}

pub(super) fn objects(story: &Story) -> Vec<Object> {
    story.moments.iter().map(object).collect()
}

fn object(it: &Moment) -> Object {
    let after = it.after.as_ref();
    let of = |pick: fn(&Explanation) -> f64| after.map(pick).and_then(finite);
    let mut object = Object {
        day: it.day,
        event: event(&it.what),
        reason: None,
        outcome: None,
        changes: None,
        asked: None,
        budget: None,
        factor: None,
        age: it.before.and_then(|before| before.age),
        missed: it.missed,
        true_interval: finite(1.0 / it.rate),
        interval: of(|it| 1.0 / it.belief.mean()),
        interval_low: of(|it| 1.0 / it.between.1),
        interval_high: of(|it| 1.0 / it.between.0),
        worth: it.before.and_then(|before| finite(before.worth)),
        price: it.before.and_then(|before| finite(before.price)),
        standing: after.map(|it| standing(it.standing)),
        due: of(|it| it.due),
        because: after.map(|it| because(it.because)),
    };
    match it.what {
        What::Fetched { reason, asked, outcome } => {
            object.reason = Some(reason_name(reason));
            object.asked = Some(asked);
            let (name, changes) = match outcome {
                Outcome::Changed { times } => ("changed", Some(times)),
                Outcome::Unchanged => ("unchanged", Some(0)),
                Outcome::Failed => ("failed", None),
                Outcome::Gone => ("gone", None),
            };
            (object.outcome, object.changes) = (Some(name), changes);
        }
        What::Budget(budget) => object.budget = finite(budget),
        What::Rate(factor) => object.factor = finite(factor),
        _ => {}
    }
    object
}

fn event(what: &What) -> &'static str {
    match what {
        What::Described => "described",
        What::Removed => "removed",
        What::Changed => "changed",
        What::Announced => "announced",
        What::Signalled => "signalled",
        What::Fetched { .. } => "fetched",
        What::GivenUp => "given-up",
        What::HostDown => "host-down",
        What::HostBack => "host-back",
        What::Budget(_) => "budget",
        What::Rate(_) => "rate",
        What::Waits => "waits",
        What::End => "end",
    }
}

fn reason_name(reason: Reason) -> &'static str {
    match reason {
        Reason::New => "new",
        Reason::Worth => "worth",
        Reason::Pending => "pending",
        Reason::Overdue => "overdue",
        Reason::Retry => "retry",
        Reason::Spare => "spare",
    }
}

fn standing(of: Standing) -> &'static str {
    match of {
        Standing::Waiting => "waiting",
        Standing::Candidate => "candidate",
        Standing::Asked => "asked",
        Standing::Paused => "paused",
        Standing::Gone => "gone",
    }
}

fn because(of: Because) -> &'static str {
    match of {
        Because::New => "new",
        Because::Worth => "worth",
        Because::Pending => "pending",
        Because::Shortest => "shortest",
        Because::Longest => "longest",
        Because::Retry => "retry",
        Because::Never => "never",
    }
}
