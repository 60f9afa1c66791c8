//! Single sources: gone, observed, with other goals, or with unexpected change rates.

use freshet_engine::{
    Action, DueReason, Engine, EngineSettings, Event, FetchReason, FetchResult, Goal,
    SourceDescription, SourcePhase,
};
use freshet_estimate::{CaptureObjective, Penalty, UpdateLifetime, Urgency};

use crate::web::{Web, budget, mean};

#[test]
fn a_gone_source_is_probed_parked_and_revived_by_adding_it_again() {
    let mut web = Web::new(budget(100.0));
    web.add_many(100, 10);
    web.run_until(10.0);
    let it = SourceDescription { host: 4, ..SourceDescription::new(4) };
    web.failure_rule = Box::new(|it, _| (it.id == 4).then_some(FetchResult::Gone));
    web.run_until(400.0);
    let days: Vec<f64> =
        web.fetches_between(10.0, 400.0).filter(|it| it.id == 4).map(|it| it.day).collect();
    assert_eq!(days.len(), 5, "{days:?}");
    for (pair, wait) in days.windows(2).zip([7.0, 14.0, 28.0, 56.0]) {
        let waited = pair[1] - pair[0];
        assert!((wait..wait + 0.5).contains(&waited), "{waited} days instead of {wait}");
    }
    let gone_days: Vec<f64> =
        web.actions.iter().filter(|it| it.1 == Action::SourceGone(4)).map(|it| it.0).collect();
    assert!(
        gone_days.len() == 1 && (gone_days[0] - days[4]).abs() < 0.01,
        "gone_days on {gone_days:?}"
    );
    assert_eq!(web.engine.explain(4).unwrap().phase, SourcePhase::Gone);
    web.assert_daily_spending(200.0, 400.0, 100.0, 10.0);

    // Describing a gone source again, as callers do with all sources from time to time, does not
    // revive it.
    web.failure_rule = Box::new(|_, _| None);
    web.add(&[(it, 1.0)]);
    assert_eq!(web.engine.explain(4).unwrap().phase, SourcePhase::Gone);
    // Removing and adding it does.
    web.send(Event::SourcesRemoved(vec![4]));
    web.add(&[(it, 1.0)]);
    web.run_until(420.0);
    let fetches = web.fetches_between(400.0, 420.0).filter(|it| it.id == 4).count();
    assert!(fetches >= 5, "{fetches} fetches in 20 days");
}

/// An observed source is fetched when its pending changes are worth the price.
#[test]
fn observed_changes_wait_until_they_are_worth_the_price() {
    let mut web = Web::new(budget(100.0));
    web.records_explanations = true;
    web.add_many(200, 10);
    let observed = |id, importance| {
        (
            SourceDescription {
                host: id % 10,
                importance,
                observed: true,
                ..SourceDescription::new(id)
            },
            1.0,
        )
    };
    let pages: Vec<_> = (200..210).map(|id| observed(id, 10.0)).collect();
    let other: Vec<_> = (210..220).map(|id| observed(id, 0.2)).collect();
    web.add(&pages);
    web.add(&other);
    web.run_until(200.0);
    let of = |ids: std::ops::Range<u32>| {
        web.fetches_between(50.0, 200.0).filter(move |it| ids.contains(&it.id))
    };
    assert!(of(200..220).all(|it| it.pending > 0 && it.reason == FetchReason::PendingChanges));
    // Important sources are fetched at nearly every change.
    let (at_once, fetches) = (mean(of(200..210).map(|it| it.pending.into())), of(200..210).count());
    assert!(at_once < 1.1 && fetches > 1300, "{at_once} pending at {fetches} fetches");
    // The others are fetched when w n/c reaches the price, up to the uncertainty about c.
    let price = web.engine.price();
    let due = (price / 0.2).ceil();
    let pending = mean(of(210..220).map(|it| it.pending.into()));
    assert!(due >= 2.0 && (pending - due).abs() <= 1.0, "{pending} pending, {due} due");
}

#[test]
fn several_goals_share_one_price() {
    let mut web = Web::new(budget(300.0));
    let goals = [
        None,
        Some(Goal::KeepFresh(Penalty::Freshness)),
        Some(Goal::KeepFresh(Penalty::Age)),
        Some(Goal::Capture(CaptureObjective {
            life: UpdateLifetime::Append,
            urgency: Urgency::Decay(2.0),
        })),
    ];
    let pages: Vec<_> = (0..1000_u32)
        .map(|id| {
            let goal = goals[id as usize % 4];
            (
                SourceDescription { host: id % 50, goal, ..SourceDescription::new(id) },
                web.log_uniform(-2.0, 0.5),
            )
        })
        .collect();
    web.add(&pages);
    web.run_until(79.9);
    web.records_explanations = true;
    web.run_until(100.0);
    web.assert_daily_spending(20.0, 100.0, 300.0, 12.5);
    for (kind, goal) in goals.iter().enumerate() {
        let fetches = || {
            web.fetches_between(80.0, 100.0)
                .filter(|it| it.id as usize % 4 == kind && it.reason == FetchReason::Value)
        };
        // Whatever the goal, a fetch is made when it is worth the price.
        let (count, log) = (fetches().count(), mean(fetches().map(|it| it.worth.ln())));
        assert!(count > 200 && log.abs() < 0.3, "{goal:?}: {count} fetches, e^{log} of the price");
    }
}

/// No change for 100 days, and then two changes a day: found after nine days, after 16 at worst.
#[test]
fn a_static_source_that_begins_to_change_is_detected() {
    let mut web = Web::new(budget(100.0));
    let one = |id: u32| SourceDescription { host: id % 10, ..SourceDescription::new(id) };
    let mut pages: Vec<_> = (0..200).map(|id| (one(id), web.log_uniform(-1.0, 0.5))).collect();
    for it in &mut pages[..20] {
        it.1 = 0.0;
    }
    web.add(&pages);
    web.run_until(100.0);
    let before = web.fetches_between(80.0, 100.0).filter(|it| it.id < 20).count();
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
    // The new rate is learned as slowly as the old evidence is forgotten.
    let after = web.fetches_between(150.0, 200.0).filter(|it| it.id < 20).count();
    assert!(after > 3 * before, "{before} fetches in 50 days before, {after} after");
}

/// Static siblings do not delay the first look: Olston & Pandey 2008 cap the first interval at ten
/// times the interval of a source that changes all the time.
#[test]
fn an_unknown_source_among_static_siblings_is_still_fetched() {
    let mut web = Web::new(budget(100.0));
    let one = |id: u32| SourceDescription { host: id % 2, ..SourceDescription::new(id) };
    // On host 0 nothing ever changes.
    let pages: Vec<_> = (0..400)
        .map(|id| (one(id), if id % 2 == 0 { 0.0 } else { web.log_uniform(-1.0, 0.5) }))
        .collect();
    web.add(&pages);
    web.run_until(150.0);
    let price = web.engine.price();
    let it = SourceDescription { last_fetch: Some(150.0), ..one(500) };
    web.add(&[(it, 3.0)]);
    web.run_until(300.0);
    let first = web.fetches_between(150.0, 300.0).find(|it| it.id == 500).unwrap().day - 150.0;
    assert!(first <= 10.0 * price * 1.1 + 0.1, "after {first} days at a price of {price}");
    let found = web.found.iter().find(|it| it.1 == 500).unwrap().0 - 150.0;
    assert!(found < 10.0 * price * 1.5 + 0.1, "found after {found} days");
}

/// A copy found unchanged was fresh for the whole interval; one found changed was fresh for less
/// than half of it, on average.
#[test]
fn a_fetch_measures_the_freshness_of_the_previous_copy() {
    let mut web = Web::new(budget(100.0));
    web.add_many(100, 10);
    web.run_until(200.0);
    let first = web.engine.measure_freshness(3, 200.0, false).unwrap();
    assert_eq!(first.fresh_days, first.held_days);
    assert!(first.expected_fresh_days > 0.0 && first.expected_fresh_days < first.held_days);
    let changed = web.engine.measure_freshness(3, 200.0, true).unwrap();
    assert!(changed.fresh_days > 0.0 && changed.fresh_days < 0.5 * changed.held_days + 1e-9);
    assert_eq!(web.engine.measure_freshness(3, 0.0, true), None);
    assert_eq!(web.engine.measure_freshness(100, 200.0, true), None);
}

/// Value on a day, interpolated between two points of a curve.
fn value_on_day(curve: &[(f64, f64)], day: f64) -> f64 {
    let after = curve.iter().position(|it| it.0 >= day).unwrap();
    let ((from, low), (to, high)) = (curve[after.saturating_sub(1)], curve[after]);
    if to > from { low + (high - low) * (day - from) / (to - from) } else { high }
}

/// For every goal, the value of a fetch rises from nothing to the price and reaches it on the due
/// day.
#[test]
fn the_value_curve_reaches_the_price_on_the_due_day() {
    let capture = CaptureObjective { life: UpdateLifetime::Append, urgency: Urgency::Decay(1.0) };
    let goals = [
        Goal::KeepFresh(Penalty::Harmonic),
        Goal::KeepFresh(Penalty::Freshness),
        Goal::KeepFresh(Penalty::Age),
        Goal::Capture(capture),
    ];
    for goal in goals {
        let settings = freshet_engine::EngineSettings { goal, ..budget(100.0) };
        let mut web = Web::new(settings);
        web.add_many(100, 10);
        web.run_until(100.0);
        let all = (0..100).filter_map(|id| web.engine.explain(id));
        let by_worth: Vec<_> = all.filter(|it| it.due_reason == DueReason::Value).collect();
        assert!(by_worth.len() > 20, "{goal}: {}", by_worth.len());
        for it in by_worth {
            let curve = web.engine.value_curve(&it);
            assert!(curve.len() >= 60 && curve.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert!(curve[0].0 == it.last_fetch.unwrap() && curve[0].1 < 0.1 * it.price, "{goal}");
            let there = value_on_day(&curve, it.due_day);
            assert!((there / it.price - 1.0).abs() < 1e-3, "{goal}: {there} at {}", it.price);
            assert!(
                (value_on_day(&curve, it.now) - it.value).abs() < 1e-9 * it.value.abs() + 1e-12
            );
        }
    }
}

/// The value of an observed source is 0 before the first pending change and positive after it.
#[test]
fn the_value_curve_of_an_observed_source_jumps_at_a_change() {
    let mut web = Web::new(budget(100.0));
    web.add_many(100, 10);
    let observed =
        SourceDescription { importance: 1e-3, observed: true, ..SourceDescription::new(100) };
    web.add(&[(observed, 1e-9)]);
    web.run_until(20.0);
    let unchanged = web.engine.explain(100).unwrap();
    assert!(web.engine.value_curve(&unchanged).iter().all(|it| it.1 == 0.0), "{unchanged}");
    web.send(Event::ChangeObserved(100));
    web.run_until(20.5);
    let it = web.engine.explain(100).unwrap();
    assert_eq!(it.pending_changes, Some(1));
    let curve = web.engine.value_curve(&it);
    let jump = curve.iter().position(|it| it.1 > 0.0).unwrap();
    assert!((curve[jump].0 - 20.0).abs() < 1e-5 && (curve[jump - 1].0 - 20.0).abs() < 1e-5);
    assert!(curve[jump..].iter().all(|it| it.1 > 0.0), "{curve:?}");
    assert_eq!(web.engine.value_curve(&freshet_engine::Explanation { id: 999, ..it }), []);
}

#[test]
fn a_status_agrees_with_the_explanation() {
    let mut web = Web::new(budget(20.0));
    web.add_many(100, 10);
    let paused = SourceDescription { paused: true, host: 3, ..SourceDescription::new(3) };
    web.add(&[(paused, 1.0)]);
    web.failure_rule = Box::new(|it, _| (it.id == 4).then_some(FetchResult::Gone));
    web.run_until(40.0);
    web.send(Event::SourcesRemoved(vec![5]));
    assert_eq!(web.engine.source_status(5), None);
    assert_eq!(web.engine.source_status(100), None);
    for id in (0..100).filter(|id| *id != 5) {
        let (short, long) =
            (web.engine.source_status(id).unwrap(), web.engine.explain(id).unwrap());
        assert_eq!((short.phase, short.host), (long.phase, long.host.number));
        assert_eq!((short.value, short.price), (long.value, long.price));
        assert_eq!((short.change_rate, short.importance), (long.belief.mean(), 1.0));
        if short.phase != SourcePhase::InFlight {
            assert_eq!(short.due_day, long.due_day.max(long.host.free_at), "source {id}");
        }
        let snapshot = web.engine.source_snapshot(id).unwrap();
        assert_eq!(
            (snapshot.id(), snapshot.due_day(), snapshot.change_rate()),
            (id, short.due_day, short.change_rate)
        );
        let is_active = short.due_day.is_finite();
        assert_eq!(
            snapshot.relative_value(),
            if is_active { short.value / short.price } else { 0.0 }
        );
    }
}

/// An engine whose source was last copied on day 0 and is in flight on day 10.
fn engine_with_fetch_in_flight() -> Engine {
    let mut engine = Engine::new(0.0, budget(100.0));
    let copied = SourceDescription { last_fetch: Some(0.0), ..SourceDescription::new(0) };
    for event in [Event::SourcesDescribed(vec![copied]), Event::FetchStarted(0)] {
        engine.step(10.0, event, &mut Vec::new());
    }
    engine
}

#[test]
fn a_reported_fetch_updates_the_belief_as_of_its_day() {
    for outcome in [FetchResult::Changed, FetchResult::Unchanged] {
        let (mut reported, mut fetched) =
            (engine_with_fetch_in_flight(), engine_with_fetch_in_flight());
        let late = Event::FetchReported { id: 0, outcome, day: 10.0 };
        reported.step(15.0, late, &mut Vec::new());
        fetched.step(10.0, Event::FetchFinished { id: 0, outcome }, &mut Vec::new());
        let (late, then) = (reported.learned_state(0).unwrap(), fetched.learned_state(0).unwrap());
        assert_eq!(late.last_fetch(), Some(10.0));
        let belief = |engine: &Engine| engine.source_belief(0).map(|it| it.change_rate);
        assert_eq!(belief(&reported), belief(&fetched));
        assert_eq!(late.last_fetch(), then.last_fetch());
    }
}

#[test]
fn the_day_of_a_report_is_clamped_to_the_last_copy_and_now() {
    for (day, copied) in [(-5.0, 0.0), (99.0, 12.0), (f64::NAN, 12.0), (11.0, 11.0)] {
        let mut engine = engine_with_fetch_in_flight();
        let event = Event::FetchReported { id: 0, outcome: FetchResult::Unchanged, day };
        engine.step(12.0, event, &mut Vec::new());
        assert_eq!(engine.learned_state(0).unwrap().last_fetch(), Some(copied), "{day}");
        assert_eq!(engine.now(), 12.0);
    }
}

#[test]
fn an_uncompared_copy_does_not_update_the_belief() {
    let mut engine = engine_with_fetch_in_flight();
    let belief = |engine: &Engine| engine.source_belief(0).map(|it| it.change_rate);
    let before = belief(&engine);
    engine.step(
        12.0,
        Event::FetchFinished { id: 0, outcome: FetchResult::Uncompared },
        &mut Vec::new(),
    );
    assert_eq!(belief(&engine), before);
    assert_eq!(engine.learned_state(0).unwrap().last_fetch(), Some(12.0));
}

#[test]
fn refunded_budget_can_be_spent_again() {
    let spent = |refund: f64| {
        let settings =
            EngineSettings { budget: 1e-6, burst: Some(4.0), ..EngineSettings::default() };
        let mut engine = Engine::new(0.0, settings);
        let mut actions = Vec::new();
        let pages = (0..10).map(|id| SourceDescription { host: id, ..SourceDescription::new(id) });
        engine.step(0.0, Event::SourcesDescribed(pages.collect()), &mut actions);
        engine.grant_budget(3.0);
        engine.step(0.0, Event::FetchStarted(0), &mut actions);
        engine.refund_budget(refund);
        engine.step(0.0, Event::CapacityAdded(u32::MAX), &mut actions);
        for _ in 0..100 {
            engine.step(0.0, Event::Tick, &mut actions);
        }
        actions.iter().filter(|it| matches!(it, Action::Fetch { .. })).count()
    };
    assert_eq!([spent(0.0), spent(1.0), spent(f64::NAN), spent(100.0)], [2, 3, 2, 4]);
}
