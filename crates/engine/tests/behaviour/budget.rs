//! Budget tests: the spending follows the current settings, whatever they were before.

use freshet_engine::{BudgetProfile, EngineSettings, Event, SourceDescription};

use crate::web::{HOUR, Web, budget};

/// Burst of [`budget`]`(500.0)`.
const BURST: f64 = 500.0 / 24.0;

#[test]
fn spending_and_price_follow_the_budget() {
    let mut web = Web::new(budget(500.0));
    web.add_many(2000, 50);
    web.run_until(20.0);
    web.assert_daily_spending(1.0, 20.0, 500.0, BURST);
    let initial = web.engine.price();

    web.send(Event::SettingsChanged(budget(250.0)));
    web.run_until(35.0);
    web.assert_daily_spending(20.0, 35.0, 250.0, BURST);
    let halved = web.engine.price();
    // With half the fetches, each has to be worth about twice as much.
    assert!(halved > 1.4 * initial, "{initial} -> {halved}");

    web.send(Event::SettingsChanged(budget(1000.0)));
    web.run_until(50.0);
    web.assert_daily_spending(35.0, 50.0, 1000.0, 2.0 * BURST);
    let doubled = web.engine.price();
    assert!(doubled < 0.7 * initial, "{initial} -> {doubled}");

    web.send(Event::SettingsChanged(budget(500.0)));
    web.run_until(65.0);
    web.assert_daily_spending(50.0, 65.0, 500.0, 2.0 * BURST);
    let final_price = web.engine.price();
    assert!((final_price / initial).ln().abs() < 0.2, "{initial} -> {final_price}");
}

#[test]
fn a_zero_budget_stops_fetching_and_is_not_made_up_for() {
    let mut web = Web::new(budget(500.0));
    web.add_many(2000, 50);
    web.run_until(20.0);
    let initial = web.engine.price();
    web.send(Event::SettingsChanged(budget(0.0)));
    web.run_until(30.0);
    assert_eq!(web.count(20.0 + 1e-9, 30.0), 0.0);
    assert!(web.engine.price().is_finite());

    web.send(Event::SettingsChanged(budget(500.0)));
    web.run_until(50.0);
    // Ten days without budget are not made up for.
    web.assert_daily_spending(30.0, 50.0, 500.0, BURST);
    let final_price = web.engine.price();
    assert!((final_price / initial).ln().abs() < 0.3, "{initial} -> {final_price}");
}

#[test]
fn spending_follows_the_hourly_profile() {
    // Nothing from 8 to 20, and in the last hour three times as much as in the others.
    let weight = |hour| match hour {
        8..20 => 0.0,
        23 => 3.0,
        _ => 1.0,
    };
    let profile = BudgetProfile::new(std::array::from_fn(weight)).unwrap();
    let mut web = Web::new(EngineSettings { profile, ..budget(700.0) });
    web.add_many(2000, 50);
    web.run_until(20.0);
    // Leaves out the ends of the hour, where rounding decides.
    let count = |from: f64| web.count(from + 1e-9, from + HOUR - 1e-9);
    // Totals of two weeks by hour of the day.
    for hour in 0..24_u32 {
        let from = |day: u32| f64::from(day) + f64::from(hour) * HOUR;
        let spent: f64 = (6..20).map(|day| count(from(day))).sum();
        let due = 14.0 * 700.0 * profile.hourly_weights()[hour as usize] / 24.0;
        // An hour may save some of its share for the next, but not for one with weight 0.
        assert!((spent - due).abs() <= 0.08 * due, "{spent} of {due} at {hour}");
    }
    web.assert_daily_spending(6.0, 20.0, 700.0, 700.0 / 24.0);
}

#[test]
fn a_paused_source_keeps_its_belief() {
    let mut web = Web::new(budget(100.0));
    web.add_many(100, 10);
    web.run_until(20.0);
    let it = SourceDescription { host: 7, ..SourceDescription::new(7) };
    let learnt = web.engine.explain(7).unwrap().belief;
    web.add(&[(SourceDescription { paused: true, ..it }, 5.0)]);
    web.run_until(30.0);
    // A fetch that was in flight may still return.
    assert_eq!(web.fetches_between(20.0 + 1e-9, 30.0).filter(|fetch| fetch.id == 7).count(), 0);
    web.assert_daily_spending(20.0, 30.0, 100.0, 10.0);
    web.add(&[(it, 5.0)]);
    let kept = web.engine.explain(7).unwrap().belief;
    assert!((kept.mean() / learnt.mean()).ln().abs() < 0.5, "{learnt:?} -> {kept:?}");
    web.run_until(31.0);
    assert!(web.fetches_between(30.0, 31.0).any(|fetch| fetch.id == 7), "it is overdue by far");
}

#[test]
fn pausing_the_engine_stops_all_fetches() {
    let mut web = Web::new(budget(100.0));
    web.add_many(100, 10);
    web.run_until(20.0);
    web.send(Event::SettingsChanged(EngineSettings { paused: true, ..budget(100.0) }));
    web.run_until(30.0);
    assert_eq!(web.count(20.0 + 1e-9, 30.0), 0.0);
    web.send(Event::SettingsChanged(budget(100.0)));
    web.run_until(40.0);
    web.assert_daily_spending(30.0, 40.0, 100.0, 10.0);
}
