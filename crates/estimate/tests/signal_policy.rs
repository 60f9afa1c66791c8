//! Learning and deciding together: one source, from nothing, with its signals and without.

#[path = "support/uniform.rs"]
mod uniform;

use freshet_estimate::{Counted, Heard, Trust};
use uniform::Uniform;

const DAYS: f64 = 500.0;
const PRICE: f64 = 0.1;
/// No source is fetched more often than this.
const LEAST_WAIT: f64 = 1e-3;

/// A change or a signal or both.
struct Event {
    at: f64,
    change: bool,
    signal: bool,
}

fn events(recall: f64, false_signals: f64, seed: u64) -> Vec<Event> {
    let mut uniform = Uniform::new(seed);
    let rate = 1.0 + false_signals;
    let (mut at, mut events) = (0.0, Vec::new());
    while at < DAYS {
        at -= uniform.next().ln() / rate;
        let change = uniform.next() * rate < 1.0;
        events.push(Event { at, change, signal: !change || uniform.next() < recall });
    }
    events
}

/// What penalty and fetches cost per day.
fn cost(penalty: Counted, events: &[Event], listen: bool) -> f64 {
    let mut trust = Trust::SCEPTICAL;
    let (mut last, mut now, mut signals, mut pending, mut cost) = (0.0, 0.0, 0.0, 0_u32, 0.0);
    let due = |trust: &Trust, signals: f64| trust.due(penalty, signals, PRICE).max(LEAST_WAIT);
    let mut next = due(&trust, signals);
    let mut events = events.iter();
    let mut event = events.next();
    while let Some(coming) = event {
        let fetch = next.max(now) <= coming.at;
        let at = if fetch { next.max(now) } else { coming.at };
        cost += (at - now)
            * match penalty {
                Counted::Harmonic => (1..=pending).map(|i| 1.0 / f64::from(i)).sum::<f64>(),
                Counted::Freshness => f64::from(pending > 0),
            };
        now = at;
        if fetch {
            cost += PRICE;
            trust = trust.fetched(Heard { days: now - last, signals }, pending > 0);
            (last, signals, pending) = (now, 0.0, 0);
            next = last + due(&trust, signals);
        } else {
            pending += u32::from(coming.change);
            if listen && coming.signal {
                signals += 1.0;
                next = last + due(&trust, signals);
            }
            event = events.next();
        }
    }
    cost / now
}

#[test]
fn signals_never_hurt_and_good_ones_help() {
    // The most that they may cost, of what the source costs when they are ignored.
    for (recall, precision, most) in
        [(0.2, 0.05, 1.06), (0.9, 0.05, 1.06), (0.6, 0.5, 0.9), (0.95, 0.95, 0.5)]
    {
        for penalty in [Counted::Harmonic, Counted::Freshness] {
            let events = events(recall, recall * (1.0 - precision) / precision, 5);
            let share = cost(penalty, &events, true) / cost(penalty, &events, false);
            assert!(share < most, "{penalty:?}, recall {recall}, precision {precision}: {share}");
        }
    }
}
