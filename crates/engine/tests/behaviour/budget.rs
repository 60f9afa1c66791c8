//! The budget: what is spent is what was said, whatever was said before.

use freshet_engine::{Description, Event, Profile, Settings};

use crate::web::{HOUR, Web, budget};

/// What [`budget`]`(500.0)` may spend at once.
const BURST: f64 = 500.0 / 24.0;

#[test]
fn halved_doubled_and_back() {
    let mut web = Web::new(budget(500.0));
    web.add_many(2000, 50);
    web.run_until(20.0);
    web.spends(1.0, 20.0, 500.0, BURST);
    let usual = web.engine.price();

    web.tell(Event::Settings(budget(250.0)));
    web.run_until(35.0);
    web.spends(20.0, 35.0, 250.0, BURST);
    let dear = web.engine.price();
    // Half the fetches: each has to be worth about twice as much.
    assert!(dear > 1.4 * usual, "{usual} -> {dear}");

    web.tell(Event::Settings(budget(1000.0)));
    web.run_until(50.0);
    web.spends(35.0, 50.0, 1000.0, 2.0 * BURST);
    let cheap = web.engine.price();
    assert!(cheap < 0.7 * usual, "{usual} -> {cheap}");

    web.tell(Event::Settings(budget(500.0)));
    web.run_until(65.0);
    web.spends(50.0, 65.0, 500.0, 2.0 * BURST);
    let again = web.engine.price();
    assert!((again / usual).ln().abs() < 0.2, "{usual} -> {again}");
}

#[test]
fn nothing_and_back() {
    let mut web = Web::new(budget(500.0));
    web.add_many(2000, 50);
    web.run_until(20.0);
    let usual = web.engine.price();
    web.tell(Event::Settings(budget(0.0)));
    web.run_until(30.0);
    assert_eq!(web.count(20.0 + 1e-9, 30.0), 0.0);
    assert!(web.engine.price().is_finite());

    web.tell(Event::Settings(budget(500.0)));
    web.run_until(50.0);
    // Ten days are not made up for.
    web.spends(30.0, 50.0, 500.0, BURST);
    let again = web.engine.price();
    assert!((again / usual).ln().abs() < 0.3, "{usual} -> {again}");
}

#[test]
fn hours_of_the_day() {
    // Nothing from 8 to 20, and in the last hour three times as much as in the others.
    let weight = |hour| match hour {
        8..20 => 0.0,
        23 => 3.0,
        _ => 1.0,
    };
    let profile = Profile::new(std::array::from_fn(weight)).unwrap();
    let mut web = Web::new(Settings { profile, ..budget(700.0) });
    web.add_many(2000, 50);
    web.run_until(20.0);
    // Without the hour's last digits.
    let count = |from: f64| web.count(from + 1e-9, from + HOUR - 1e-9);
    // Two weeks' totals, hour by hour.
    for hour in 0..24_u32 {
        let from = |day: u32| f64::from(day) + f64::from(hour) * HOUR;
        let spent: f64 = (6..20).map(|day| count(from(day))).sum();
        let due = 14.0 * 700.0 * profile.hours()[hour as usize] / 24.0;
        // An hour may save some of its share for the next, but not for one that gets nothing.
        assert!((spent - due).abs() <= 0.08 * due, "{spent} of {due} at {hour}");
    }
    web.spends(6.0, 20.0, 700.0, 700.0 / 24.0);
}

#[test]
fn one_source_is_paused() {
    let mut web = Web::new(budget(100.0));
    web.add_many(100, 10);
    web.run_until(20.0);
    let it = Description { host: 7, ..Description::new(7) };
    let learnt = web.engine.explain(7).unwrap().belief;
    web.add(&[(Description { paused: true, ..it }, 5.0)]);
    web.run_until(30.0);
    // One that was under way may still come back.
    assert_eq!(web.between(20.0 + 1e-9, 30.0).filter(|fetch| fetch.id == 7).count(), 0);
    web.spends(20.0, 30.0, 100.0, 10.0);
    web.add(&[(it, 5.0)]);
    let kept = web.engine.explain(7).unwrap().belief;
    assert!((kept.mean() / learnt.mean()).ln().abs() < 0.5, "{learnt:?} -> {kept:?}");
    web.run_until(31.0);
    assert!(web.between(30.0, 31.0).any(|fetch| fetch.id == 7), "it is overdue by far");
}

#[test]
fn all_is_paused() {
    let mut web = Web::new(budget(100.0));
    web.add_many(100, 10);
    web.run_until(20.0);
    web.tell(Event::Settings(Settings { paused: true, ..budget(100.0) }));
    web.run_until(30.0);
    assert_eq!(web.count(20.0 + 1e-9, 30.0), 0.0);
    web.tell(Event::Settings(budget(100.0)));
    web.run_until(40.0);
    web.spends(30.0, 40.0, 100.0, 10.0);
}
