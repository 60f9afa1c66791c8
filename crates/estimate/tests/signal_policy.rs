//! Learning and fetching together: one source, from an uninformed belief, with and without signals.

#[path = "support/uniform.rs"]
mod uniform;

use freshet_estimate::{ChangeCountPenalty, SignalBelief, SignalsSinceFetch};
use uniform::Uniform;

const DAYS: f64 = 500.0;
const PRICE: f64 = 0.1;
/// Minimum days between two fetches.
const MIN_INTERVAL: f64 = 1e-3;

/// A change, a signal, or both.
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

/// Cost of penalty and fetches per day.
fn cost(penalty: ChangeCountPenalty, events: &[Event], use_signals: bool) -> f64 {
    let mut belief = SignalBelief::SCEPTICAL;
    let (mut last, mut now, mut signals, mut pending, mut cost) = (0.0, 0.0, 0.0, 0_u32, 0.0);
    let due = |belief: &SignalBelief, signals: f64| {
        belief.interval_at_price(penalty, signals, PRICE).max(MIN_INTERVAL)
    };
    let mut next = due(&belief, signals);
    let mut events = events.iter();
    let mut event = events.next();
    while let Some(next_event) = event {
        let fetch = next.max(now) <= next_event.at;
        let at = if fetch { next.max(now) } else { next_event.at };
        cost += (at - now)
            * match penalty {
                ChangeCountPenalty::Harmonic => {
                    (1..=pending).map(|i| 1.0 / f64::from(i)).sum::<f64>()
                }
                ChangeCountPenalty::Freshness => f64::from(pending > 0),
            };
        now = at;
        if fetch {
            cost += PRICE;
            belief = belief
                .observe_fetch(SignalsSinceFetch { days: now - last, count: signals }, pending > 0);
            (last, signals, pending) = (now, 0.0, 0);
            next = last + due(&belief, signals);
        } else {
            pending += u32::from(next_event.change);
            if use_signals && next_event.signal {
                signals += 1.0;
                next = last + due(&belief, signals);
            }
            event = events.next();
        }
    }
    cost / now
}

#[test]
fn signals_cost_little_at_worst_and_save_much_at_best() {
    // Maximum cost relative to the cost with the signals ignored.
    for (recall, precision, max) in
        [(0.2, 0.05, 1.06), (0.9, 0.05, 1.06), (0.6, 0.5, 0.9), (0.95, 0.95, 0.5)]
    {
        for penalty in [ChangeCountPenalty::Harmonic, ChangeCountPenalty::Freshness] {
            let events = events(recall, recall * (1.0 - precision) / precision, 5);
            let share = cost(penalty, &events, true) / cost(penalty, &events, false);
            assert!(share < max, "{penalty:?}, recall {recall}, precision {precision}: {share}");
        }
    }
}
