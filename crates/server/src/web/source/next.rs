//! When a source is fetched next, and why: in words, and as the climb of a fetch's worth to the price.

use freshet_daemon::{Explained, Millis};
use freshet_model::moment;

use crate::web::chart::{Chart, Drawn, Form, Mark, Scale, Series};
use crate::web::words;

/// Marks that are nearer than this share of the picture have one label.
const NEAR: f64 = 0.1;

/// When, and why.
pub(super) struct Next {
    /// In a sentence.
    pub(super) headline: String,
    /// What more there is to say.
    pub(super) says: Vec<String>,
    /// Names and values.
    pub(super) facts: Vec<(&'static str, String)>,
    /// What signals have to do with it: the number of who is listened to, and a sentence.
    pub(super) signals: Option<(u32, String)>,
}

impl Next {
    pub(super) fn of(explained: Option<&Explained>, now: Millis) -> Self {
        let Some(it) = explained else {
            let headline = "Nothing is known of it yet.".to_owned();
            return Self { headline, says: Vec::new(), facts: Vec::new(), signals: None };
        };
        let mut says = Vec::new();
        let waits = matches!(it.standing.as_str(), "waiting" | "candidate");
        if waits && let Some(until) = it.host_rests {
            says.push(format!(
                "Its host is left alone: it may be asked again {}.",
                moment::from_now(until, now)
            ));
        }
        if waits && let Some(says_worth) = worth(it) {
            says.push(says_worth);
        }
        if waits {
            says.extend(earlier(it));
        }
        let signals = it.signals.as_ref().map(|signals| {
            let words = signals.words(it.worth_it.filter(|_| waits && !it.unpaid), now);
            (signals.number, words::sentence(&words))
        });
        Self { headline: headline(it, now), says, facts: facts(it, now), signals }
    }
}

fn headline(it: &Explained, now: Millis) -> String {
    match it.standing.as_str() {
        "fetching" => return "It is being fetched now.".to_owned(),
        "paused" => return "Paused: it is fetched only when somebody asks for it.".to_owned(),
        "gone" => return "Gone: its host says so, and nobody asks any more.".to_owned(),
        _ => {}
    }
    let due = it.due.unwrap_or(now);
    let is_now = due <= now + 1000;
    let when = if is_now { "now".to_owned() } else { moment::from_now(due, now) };
    match (it.because.as_str(), is_now) {
        ("new", _) => format!("First fetch {when}, because there is no copy yet."),
        ("worth", true) => {
            "Next fetch as soon as the budget and its host allow, because it is worth \
             the price."
                .to_owned()
        }
        ("worth", false) => {
            format!("Next fetch {when}, because that is when it will be worth the price.")
        }
        ("pending", _) => {
            format!("Next fetch {when}, because announced changes are worth the price.")
        }
        ("shortest", _) => {
            format!("Next fetch {when}, because its shortest interval allows none before.")
        }
        ("longest", _) => {
            format!("Next fetch {when}, because its longest interval is over then.")
        }
        ("retry", _) => format!("Next try {when}, because the last fetch brought no copy."),
        ("never", _) => "No fetch is planned: it will never be worth the price.".to_owned(),
        _ => format!("Next fetch {when}."),
    }
}

fn worth(it: &Explained) -> Option<String> {
    let worth = it.worth?;
    if !(it.price > 0.0 && it.price.is_finite()) {
        return None;
    }
    Some(format!(
        "A fetch is worth {} now, {} of the price, {}.",
        words::figure(worth),
        words::percent(worth / it.price),
        words::figure(it.price)
    ))
}

/// What would bring it forward.
fn earlier(it: &Explained) -> Option<String> {
    let is_worth_it = it.worth.is_none_or(|worth| worth >= it.price);
    let importance = it.importance_to_be_due.filter(|needed| *needed > it.importance);
    let importance = importance.filter(|_| !is_worth_it)?;
    let importance = words::figure(importance);
    Some(match it.budget_to_be_due {
        Some(budget) => format!(
            "It would be due at once with an importance of {importance}, or, in the long run, with a \
             budget of {} fetches a day.",
            words::figure(budget)
        ),
        None => format!("It would be due at once with an importance of {importance}."),
    })
}

fn facts(it: &Explained, now: Millis) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(last) = it.last {
        let age = moment::length(now - last);
        let fresh =
            it.fresh.map(|it| format!(", up to date with a chance of {}", words::percent(it)));
        facts.push(("Copy", format!("{age} old{}", fresh.unwrap_or_default())));
    } else {
        facts.push(("Copy", "none yet".to_owned()));
    }
    if let Some(pending) = it.pending {
        let said = words::plural(u64::from(pending), "change", "changes");
        facts.push(("Announced", format!("{said} not fetched yet")));
    }
    facts.push(("Objective", it.goal.clone()));
    facts.push(("Importance", words::figure(it.importance)));
    facts.push(("Cost of a fetch", words::figure(it.cost)));
    facts.push(("Host", host(it, now)));
    facts
}

fn host(it: &Explained, now: Millis) -> String {
    let host = &it.host;
    let mut words = match (host.asked, host.free.filter(|free| *free > now)) {
        (0, Some(free)) => format!("may be asked again {}", moment::from_now(free, now)),
        (0, None) => "free".to_owned(),
        (some, _) => format!("busy with {}", words::plural(u64::from(some), "fetch", "fetches")),
    };
    if host.failures > 0 {
        words += &format!(
            ", {} in a row",
            words::plural(u64::from(host.failures), "failure", "failures")
        );
    }
    if let Some(price) = host.price {
        words += &format!(", full: a fetch there must be worth {}", words::figure(price));
    }
    words
}

/// The climb of the worth to the price.
pub(super) fn value_curve(it: &Explained) -> Option<Drawn> {
    let (first, last) = (it.climb.first()?.0, it.climb.last()?.0);
    // Of a source without a copy there is nothing to climb from.
    it.last?;
    let has_price = it.price > 0.0 && it.price.is_finite();
    let price = Some(it.price).filter(|_| has_price);
    let x = Scale::time(first, last);
    let y = Scale::up_to(it.climb.iter().map(|point| point.1).chain(price), words::figure);
    let due = it.worth_it.filter(|due| (first..=last).contains(due));
    let worth = it.climb.iter().map(|point| Some(point.1)).collect();
    let mut series = vec![Series::line("Worth of a fetch", worth).form(Form::Area)];
    let mut marks = marks(it, due, &x);
    if let Some(price) = price {
        // Its line is drawn as a mark, with its name on it.
        series.push(Series::line("Price", vec![Some(price); it.climb.len()]).form(Form::Untold));
        marks.insert(0, Mark::Horizontal(price, format!("price {}", words::figure(price))));
    }
    let summary = match (it.worth, price, due) {
        (Some(worth), Some(price), Some(due)) => format!(
            "{} now, {} is the price, and it is reached at {}",
            words::figure(worth),
            words::figure(price),
            words::stamp(due)
        ),
        (Some(worth), ..) => format!("{} now", words::figure(worth)),
        _ => String::new(),
    };
    let chart = Chart {
        title: "What a fetch is worth, climbing to the price".to_owned(),
        summary,
        x,
        y,
        x_name: "When (UTC)",
        y_name: "worth of a fetch, for each unit of cost",
        at: it.climb.iter().map(|point| point.0 as f64).collect(),
        series,
        marks,
    };
    Some(chart.draw())
}

/// Now and when it is due, on the curve. The labels stand at the points: at the top is the name of the
/// axis.
fn marks(it: &Explained, due: Option<Millis>, x: &Scale) -> Vec<Mark> {
    let on_curve = |at: Millis| {
        let after = it.climb.iter().find(|point| point.0 >= at);
        after.or(it.climb.last()).map_or(0.0, |point| point.1)
    };
    let mut marks = Vec::new();
    let signal = it.signals.as_ref().and_then(|signals| signals.first);
    let is_apart = |at: &Millis| {
        let far = |other: Millis| (x.share(*at as f64) - x.share(other as f64)).abs() >= NEAR;
        it.climb.first().is_some_and(|first| *at >= first.0) && far(it.now) && due.is_none_or(far)
    };
    if let Some(at) = signal.filter(is_apart) {
        marks.push(Mark::Vertical(at as f64, String::new()));
        marks.push(Mark::Dot(at as f64, on_curve(at), "signal".to_owned()));
    }
    let mut point = |at: Millis, label: &str| {
        marks.push(Mark::Vertical(at as f64, String::new()));
        marks.push(Mark::Dot(at as f64, on_curve(at), label.to_owned()));
    };
    match due {
        Some(due) if (x.share(due as f64) - x.share(it.now as f64)).abs() < NEAR => {
            // Two labels would stand on each other.
            point(it.now, if due <= it.now { "now, and due" } else { "" });
            point(due, if due > it.now { "now, due soon" } else { "" });
        }
        _ => {
            point(it.now, "now");
            if let Some(due) = due {
                point(due, "due");
            }
        }
    }
    marks
}
