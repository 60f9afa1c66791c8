//! Events of a source, as text and as JSON.

use freshet_sim::{
    DueReason, Explanation, FetchReason, Moment, MomentKind, Outcome, SourcePhase, SourceStory,
};
use serde::Serialize;

use crate::commands::plan::finite;
use crate::commands::simulate::explain::timeline::format_span;
use crate::number::format_significant;

/// Priority of an event in a timeline that does not have room for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priority {
    /// Changes the conditions from then on.
    TurningPoint,
    Ordinary,
    /// A repeated change, which the next fetch shows as well.
    Repeated,
}

impl Priority {
    pub(super) const ALL: [Self; 3] = [Self::TurningPoint, Self::Ordinary, Self::Repeated];
}

pub(super) fn priority(moment: &Moment) -> Priority {
    match moment.what {
        MomentKind::Changed | MomentKind::Announced if moment.missed > 1 => Priority::Repeated,
        MomentKind::Fetched { .. }
        | MomentKind::Changed
        | MomentKind::Announced
        | MomentKind::Signalled
        | MomentKind::Waits => Priority::Ordinary,
        _ => Priority::TurningPoint,
    }
}

/// Describes an event.
pub(super) fn describe(moment: &Moment) -> String {
    match moment.what {
        MomentKind::Described => "added, with a copy".to_owned(),
        MomentKind::Removed => "removed".to_owned(),
        MomentKind::Changed if moment.missed > 1 => {
            format!("changes again: {} not detected yet", moment.missed)
        }
        MomentKind::Changed => "changes: not detected yet".to_owned(),
        MomentKind::Announced => "changes, with a signal".to_owned(),
        MomentKind::Signalled if moment.missed == 0 => {
            "false signal: the copy is up to date".to_owned()
        }
        MomentKind::Signalled => "signal".to_owned(),
        MomentKind::Fetched { reason, outcome, asked } => {
            let late = match moment.day - asked {
                wait if wait > 0.0 => format!(", answered after {}", format_span(wait)),
                _ => String::new(),
            };
            format!("fetched ({}): {}{late}", describe_reason(reason), describe_outcome(outcome))
        }
        MomentKind::GivenUp => "gone: no longer fetched".to_owned(),
        MomentKind::HostDown => "its host is suspended".to_owned(),
        MomentKind::HostBack => "its host is available again".to_owned(),
        MomentKind::Budget(budget) => format!("budget {}/day", format_significant(budget)),
        MomentKind::Rate(factor) => {
            format!("changes {} times as often", format_significant(factor))
        }
        MomentKind::Waits => "waits".to_owned(),
        MomentKind::End => "end".to_owned(),
    }
}

fn describe_reason(reason: FetchReason) -> &'static str {
    match reason {
        FetchReason::New => "no copy",
        FetchReason::Value => "value",
        FetchReason::PendingChanges => "signal",
        FetchReason::Overdue => "overdue",
        FetchReason::Retry => "retry",
        FetchReason::SpareBudget => "spare",
    }
}

fn describe_outcome(outcome: Outcome) -> String {
    match outcome {
        Outcome::Changed { times: 1 } => "changed".to_owned(),
        Outcome::Changed { times } => format!("changed, {times} times"),
        Outcome::Unchanged => "unchanged".to_owned(),
        Outcome::Failed => "failed".to_owned(),
        Outcome::Gone => "gone".to_owned(),
    }
}

/// Describes the time of the next fetch, and the reason.
pub(super) fn next(it: &Explanation) -> String {
    let why = match (it.phase, it.due_reason) {
        (SourcePhase::InFlight, _) => return "being fetched".to_owned(),
        (SourcePhase::Paused, _) => return "paused".to_owned(),
        (SourcePhase::Gone, _) => return "gone".to_owned(),
        (_, DueReason::Never) => return "never: value below price".to_owned(),
        (_, DueReason::New) => "no copy",
        (_, DueReason::Value) => "value",
        (_, DueReason::PendingChanges) => "signal",
        (_, DueReason::MinInterval) => "minimum interval",
        (_, DueReason::MaxInterval) => "maximum interval",
        (_, DueReason::Retry) => "retry",
    };
    if it.due_day <= it.now {
        format!("now: {why}")
    } else {
        format!("day {:.2}: {why}", it.due_day)
    }
}

/// JSON object of an event.
#[derive(Serialize)]
pub(super) struct EventReport {
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

pub(super) fn objects(story: &SourceStory) -> Vec<EventReport> {
    story.moments.iter().map(object).collect()
}

fn object(it: &Moment) -> EventReport {
    let after = it.after.as_ref();
    let value = |pick: fn(&Explanation) -> f64| after.map(pick).and_then(finite);
    let mut object = EventReport {
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
        interval: value(|it| 1.0 / it.belief.mean()),
        interval_low: value(|it| 1.0 / it.credible_interval.1),
        interval_high: value(|it| 1.0 / it.credible_interval.0),
        worth: it.before.and_then(|before| finite(before.worth)),
        price: it.before.and_then(|before| finite(before.price)),
        standing: after.map(|it| standing(it.phase)),
        due: value(|it| it.due_day),
        because: after.map(|it| because(it.due_reason)),
    };
    match it.what {
        MomentKind::Fetched { reason, asked, outcome } => {
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
        MomentKind::Budget(budget) => object.budget = finite(budget),
        MomentKind::Rate(factor) => object.factor = finite(factor),
        _ => {}
    }
    object
}

fn event(what: &MomentKind) -> &'static str {
    match what {
        MomentKind::Described => "described",
        MomentKind::Removed => "removed",
        MomentKind::Changed => "changed",
        MomentKind::Announced => "announced",
        MomentKind::Signalled => "signalled",
        MomentKind::Fetched { .. } => "fetched",
        MomentKind::GivenUp => "given-up",
        MomentKind::HostDown => "host-down",
        MomentKind::HostBack => "host-back",
        MomentKind::Budget(_) => "budget",
        MomentKind::Rate(_) => "rate",
        MomentKind::Waits => "waits",
        MomentKind::End => "end",
    }
}

fn reason_name(reason: FetchReason) -> &'static str {
    match reason {
        FetchReason::New => "new",
        FetchReason::Value => "worth",
        FetchReason::PendingChanges => "pending",
        FetchReason::Overdue => "overdue",
        FetchReason::Retry => "retry",
        FetchReason::SpareBudget => "spare",
    }
}

fn standing(of: SourcePhase) -> &'static str {
    match of {
        SourcePhase::Waiting => "waiting",
        SourcePhase::Candidate => "candidate",
        SourcePhase::InFlight => "asked",
        SourcePhase::Paused => "paused",
        SourcePhase::Gone => "gone",
    }
}

fn because(of: DueReason) -> &'static str {
    match of {
        DueReason::New => "new",
        DueReason::Value => "worth",
        DueReason::PendingChanges => "pending",
        DueReason::MinInterval => "shortest",
        DueReason::MaxInterval => "longest",
        DueReason::Retry => "retry",
        DueReason::Never => "never",
    }
}
