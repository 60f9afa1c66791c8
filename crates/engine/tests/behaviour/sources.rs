//! Single sources: gone, announced, of another kind, or not what they seemed.

use freshet_engine::{
    Action, Because, Description, Engine, Event, Goal, Outcome, Reason, Settings, Standing,
};
use freshet_estimate::{Capture, Life, Penalty, Urgency};

use crate::web::{Web, budget, mean};

#[test]
fn gone_for_good_and_back() {
    let mut web = Web::new(budget(100.0));
    web.add_many(100, 10);
    web.run_until(10.0);
    let it = Description { host: 4, ..Description::new(4) };
    web.trouble = Box::new(|it, _| (it.id == 4).then_some(Outcome::Gone));
    web.run_until(400.0);
    let days: Vec<f64> =
        web.between(10.0, 400.0).filter(|it| it.id == 4).map(|it| it.day).collect();
    assert_eq!(days.len(), 5, "{days:?}");
    for (pair, wait) in days.windows(2).zip([7.0, 14.0, 28.0, 56.0]) {
        let waited = pair[1] - pair[0];
        assert!((wait..wait + 0.5).contains(&waited), "{waited} days instead of {wait}");
    }
    let said: Vec<f64> =
        web.said.iter().filter(|it| it.1 == Action::Gone(4)).map(|it| it.0).collect();
    assert!(said.len() == 1 && (said[0] - days[4]).abs() < 0.01, "said on {said:?}");
    assert_eq!(web.engine.explain(4).unwrap().standing, Standing::Gone);
    web.spends(200.0, 400.0, 100.0, 10.0);

    // To describe it anew, as one does with all from time to time, is not to say that it is back.
    web.trouble = Box::new(|_, _| None);
    web.add(&[(it, 1.0)]);
    assert_eq!(web.engine.explain(4).unwrap().standing, Standing::Gone);
    // To remove and add it is.
    web.tell(Event::Removed(vec![4]));
    web.add(&[(it, 1.0)]);
    web.run_until(420.0);
    let fetches = web.between(400.0, 420.0).filter(|it| it.id == 4).count();
    assert!(fetches >= 5, "{fetches} fetches in 20 days");
}

/// An announced change waits until as many are pending as are worth the price.
#[test]
fn announced_changes() {
    let mut web = Web::new(budget(100.0));
    web.curious = true;
    web.add_many(200, 10);
    let observed = |id, importance| {
        (Description { host: id % 10, importance, observed: true, ..Description::new(id) }, 1.0)
    };
    let some: Vec<_> = (200..210).map(|id| observed(id, 10.0)).collect();
    let other: Vec<_> = (210..220).map(|id| observed(id, 0.2)).collect();
    web.add(&some);
    web.add(&other);
    web.run_until(200.0);
    let of =
        |ids: std::ops::Range<u32>| web.between(50.0, 200.0).filter(move |it| ids.contains(&it.id));
    assert!(of(200..220).all(|it| it.pending > 0 && it.reason == Reason::Pending));
    // The important ones at once: at nearly every change.
    let (at_once, fetches) = (mean(of(200..210).map(|it| it.pending.into())), of(200..210).count());
    assert!(at_once < 1.1 && fetches > 1300, "{at_once} pending at {fetches} fetches");
    // The others when w n/c is the price, but for the belief about c.
    let price = web.engine.price();
    let due = (price / 0.2).ceil();
    let pending = mean(of(210..220).map(|it| it.pending.into()));
    assert!(due >= 2.0 && (pending - due).abs() <= 1.0, "{pending} pending, {due} due");
}

#[test]
fn several_objectives_under_one_price() {
    let mut web = Web::new(budget(300.0));
    let goals = [
        None,
        Some(Goal::Keep(Penalty::Freshness)),
        Some(Goal::Keep(Penalty::Age)),
        Some(Goal::Capture(Capture { life: Life::Append, urgency: Urgency::Decay(2.0) })),
    ];
    let some: Vec<_> = (0..1000_u32)
        .map(|id| {
            let goal = goals[id as usize % 4];
            (Description { host: id % 50, goal, ..Description::new(id) }, web.log(-2.0, 0.5))
        })
        .collect();
    web.add(&some);
    web.run_until(79.9);
    web.curious = true;
    web.run_until(100.0);
    web.spends(20.0, 100.0, 300.0, 12.5);
    for (kind, goal) in goals.iter().enumerate() {
        let fetches = || {
            web.between(80.0, 100.0)
                .filter(|it| it.id as usize % 4 == kind && it.reason == Reason::Worth)
        };
        // Whatever it is for, a fetch is made when it is worth the price.
        let (count, log) = (fetches().count(), mean(fetches().map(|it| it.worth.ln())));
        assert!(count > 200 && log.abs() < 0.3, "{goal:?}: {count} fetches, e^{log} of the price");
    }
}

/// Nothing for 100 days, and then two changes a day: found after nine days, and after 16 at worst.
#[test]
fn a_static_source_that_begins_to_change() {
    let mut web = Web::new(budget(100.0));
    let one = |id: u32| Description { host: id % 10, ..Description::new(id) };
    let mut some: Vec<_> = (0..200).map(|id| (one(id), web.log(-1.0, 0.5))).collect();
    for it in &mut some[..20] {
        it.1 = 0.0;
    }
    web.add(&some);
    web.run_until(100.0);
    let before = web.between(80.0, 100.0).filter(|it| it.id < 20).count();
    assert!(before < 20 * 15, "{before} fetches of what never changes");
    for id in 0..20 {
        web.change_rate(id, 2.0);
    }
    web.run_until(200.0);
    let found: Vec<f64> = (0..20)
        .map(|id| web.found.iter().find(|it| it.1 == id && it.0 > 100.0).unwrap().0 - 100.0)
        .collect();
    let (usual, worst) = (mean(found.iter().copied()), found.iter().copied().fold(0.0, f64::max));
    assert!(usual < 11.0 && worst < 22.0, "found after {usual} days, {worst} at worst");
    // What it does from now on is believed as slowly as what it did for so long is forgotten.
    let after = web.between(150.0, 200.0).filter(|it| it.id < 20).count();
    assert!(after > 3 * before, "{before} fetches in 50 days before, {after} after");
}

/// What its siblings are like is no excuse: Olston & Pandey 2008 cap the first interval at ten times
/// what it would be if the source changed all the time.
#[test]
fn an_unknown_source_among_static_siblings() {
    let mut web = Web::new(budget(100.0));
    let one = |id: u32| Description { host: id % 2, ..Description::new(id) };
    // On host 0 nothing ever changes.
    let some: Vec<_> =
        (0..400).map(|id| (one(id), if id % 2 == 0 { 0.0 } else { web.log(-1.0, 0.5) })).collect();
    web.add(&some);
    web.run_until(150.0);
    let price = web.engine.price();
    let it = Description { fetched: Some(150.0), ..one(500) };
    web.add(&[(it, 3.0)]);
    web.run_until(300.0);
    let first = web.between(150.0, 300.0).find(|it| it.id == 500).unwrap().day - 150.0;
    assert!(first <= 10.0 * price * 1.1 + 0.1, "after {first} days at a price of {price}");
    let found = web.found.iter().find(|it| it.1 == 500).unwrap().0 - 150.0;
    assert!(found < 10.0 * price * 1.5 + 0.1, "found after {found} days");
}

/// A copy that is found unchanged was fresh all the time; one that is found changed for less than half
/// of it, on average.
#[test]
fn a_fetch_measures_the_copy_before_it() {
    let mut web = Web::new(budget(100.0));
    web.add_many(100, 10);
    web.run_until(200.0);
    let first = web.engine.measure_freshness(3, 200.0, false).unwrap();
    assert_eq!(first.fresh, first.held);
    assert!(first.expected_fresh > 0.0 && first.expected_fresh < first.held);
    let changed = web.engine.measure_freshness(3, 200.0, true).unwrap();
    assert!(changed.fresh > 0.0 && changed.fresh < 0.5 * changed.held + 1e-9);
    assert_eq!(web.engine.measure_freshness(3, 0.0, true), None);
    assert_eq!(web.engine.measure_freshness(100, 200.0, true), None);
}

/// The worth at a day, between two points of a curve.
fn on(climb: &[(f64, f64)], day: f64) -> f64 {
    let after = climb.iter().position(|it| it.0 >= day).unwrap();
    let ((from, low), (to, high)) = (climb[after.saturating_sub(1)], climb[after]);
    if to > from { low + (high - low) * (day - from) / (to - from) } else { high }
}

/// Whatever it is to be good for, the worth of a fetch climbs from nothing to the price, and is there on
/// the day on which it is due.
#[test]
fn the_climb_meets_the_price_when_it_is_due() {
    let capture = Capture { life: Life::Append, urgency: Urgency::Decay(1.0) };
    let goals = [
        Goal::Keep(Penalty::Harmonic),
        Goal::Keep(Penalty::Freshness),
        Goal::Keep(Penalty::Age),
        Goal::Capture(capture),
    ];
    for goal in goals {
        let settings = freshet_engine::Settings { goal, ..budget(100.0) };
        let mut web = Web::new(settings);
        web.add_many(100, 10);
        web.run_until(100.0);
        let all = (0..100).filter_map(|id| web.engine.explain(id));
        let by_worth: Vec<_> = all.filter(|it| it.because == Because::Worth).collect();
        assert!(by_worth.len() > 20, "{goal}: {}", by_worth.len());
        for it in by_worth {
            let climb = web.engine.value_curve(&it);
            assert!(climb.len() >= 60 && climb.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert!(climb[0].0 == it.last.unwrap() && climb[0].1 < 0.1 * it.price, "{goal}");
            let there = on(&climb, it.due);
            assert!((there / it.price - 1.0).abs() < 1e-3, "{goal}: {there} at {}", it.price);
            assert!((on(&climb, it.now) - it.worth).abs() < 1e-9 * it.worth.abs() + 1e-12);
        }
    }
}

/// What is announced is worth nothing before, and something from then on.
#[test]
fn the_climb_of_an_observed_source_jumps_when_it_is_told() {
    let mut web = Web::new(budget(100.0));
    web.add_many(100, 10);
    let observed = Description { importance: 1e-3, observed: true, ..Description::new(100) };
    web.add(&[(observed, 1e-9)]);
    web.run_until(20.0);
    let quiet = web.engine.explain(100).unwrap();
    assert!(web.engine.value_curve(&quiet).iter().all(|it| it.1 == 0.0), "{quiet}");
    web.tell(Event::Signal(100));
    web.run_until(20.5);
    let it = web.engine.explain(100).unwrap();
    assert_eq!(it.pending, Some(1));
    let climb = web.engine.value_curve(&it);
    let jump = climb.iter().position(|it| it.1 > 0.0).unwrap();
    assert!((climb[jump].0 - 20.0).abs() < 1e-5 && (climb[jump - 1].0 - 20.0).abs() < 1e-5);
    assert!(climb[jump..].iter().all(|it| it.1 > 0.0), "{climb:?}");
    assert_eq!(web.engine.value_curve(&freshet_engine::Explanation { id: 999, ..it }), []);
}

#[test]
fn a_glance_says_what_an_explanation_says() {
    let mut web = Web::new(budget(20.0));
    web.add_many(100, 10);
    let paused = Description { paused: true, host: 3, ..Description::new(3) };
    web.add(&[(paused, 1.0)]);
    web.trouble = Box::new(|it, _| (it.id == 4).then_some(Outcome::Gone));
    web.run_until(40.0);
    web.tell(Event::Removed(vec![5]));
    assert_eq!(web.engine.glance(5), None);
    assert_eq!(web.engine.glance(100), None);
    for id in (0..100).filter(|id| *id != 5) {
        let (short, long) = (web.engine.glance(id).unwrap(), web.engine.explain(id).unwrap());
        assert_eq!((short.standing, short.host), (long.standing, long.host.number));
        assert_eq!((short.worth, short.price), (long.worth, long.price));
        assert_eq!((short.rate, short.importance), (long.belief.mean(), 1.0));
        if short.standing != Standing::Asked {
            assert_eq!(short.due, long.due.max(long.host.free), "source {id}");
        }
        let sight = web.engine.sight(id).unwrap();
        assert_eq!((sight.id(), sight.due(), sight.rate()), (id, short.due, short.rate));
        let is_active = short.due.is_finite();
        assert_eq!(sight.value(), if is_active { short.worth / short.price } else { 0.0 });
    }
}

/// An engine whose source was last copied on day 0 and is being fetched on day 10.
fn asked() -> Engine {
    let mut engine = Engine::new(0.0, budget(100.0));
    let copied = Description { fetched: Some(0.0), ..Description::new(0) };
    for event in [Event::Described(vec![copied]), Event::Fetching(0)] {
        engine.step(10.0, event, &mut Vec::new());
    }
    engine
}

#[test]
fn a_report_teaches_of_its_own_day() {
    for outcome in [Outcome::Changed, Outcome::Unchanged] {
        let (mut reported, mut fetched) = (asked(), asked());
        let late = Event::Reported { id: 0, outcome, day: 10.0 };
        reported.step(15.0, late, &mut Vec::new());
        fetched.step(10.0, Event::Fetched { id: 0, outcome }, &mut Vec::new());
        let (late, then) = (reported.learned_state(0).unwrap(), fetched.learned_state(0).unwrap());
        assert_eq!(late.last_fetch(), Some(10.0));
        let belief = |engine: &Engine| engine.known(0).map(|it| it.rate);
        assert_eq!(belief(&reported), belief(&fetched));
        assert_eq!(late.last_fetch(), then.last_fetch());
    }
}

#[test]
fn the_day_of_a_report_is_between_the_last_copy_and_now() {
    for (day, copied) in [(-5.0, 0.0), (99.0, 12.0), (f64::NAN, 12.0), (11.0, 11.0)] {
        let mut engine = asked();
        let event = Event::Reported { id: 0, outcome: Outcome::Unchanged, day };
        engine.step(12.0, event, &mut Vec::new());
        assert_eq!(engine.learned_state(0).unwrap().last_fetch(), Some(copied), "{day}");
        assert_eq!(engine.now(), 12.0);
    }
}

#[test]
fn a_copy_that_cannot_be_compared_teaches_nothing() {
    let mut engine = asked();
    let belief = |engine: &Engine| engine.known(0).map(|it| it.rate);
    let before = belief(&engine);
    engine.step(12.0, Event::Fetched { id: 0, outcome: Outcome::Copied }, &mut Vec::new());
    assert_eq!(belief(&engine), before);
    assert_eq!(engine.learned_state(0).unwrap().last_fetch(), Some(12.0));
}

#[test]
fn what_is_refunded_can_be_spent_again() {
    let spent = |refund: f64| {
        let settings = Settings { budget: 1e-6, burst: Some(4.0), ..Settings::default() };
        let mut engine = Engine::new(0.0, settings);
        let mut actions = Vec::new();
        let some = (0..10).map(|id| Description { host: id, ..Description::new(id) });
        engine.step(0.0, Event::Described(some.collect()), &mut actions);
        engine.grant_budget(3.0);
        engine.step(0.0, Event::Fetching(0), &mut actions);
        engine.refund_budget(refund);
        engine.step(0.0, Event::Capacity(u32::MAX), &mut actions);
        for _ in 0..100 {
            engine.step(0.0, Event::Tick, &mut actions);
        }
        actions.iter().filter(|it| matches!(it, Action::Fetch { .. })).count()
    };
    assert_eq!([spent(0.0), spent(1.0), spent(f64::NAN), spent(100.0)], [2, 3, 2, 4]);
}
