//! Many sources at once.

use freshet_engine::{Description, Event, Reason, Settings};
use rand::RngExt;

use crate::web::{Web, budget, mean};

#[test]
fn a_hundred_thousand_at_once() {
    const MANY: u32 = 100_000;
    let mut web = Web::new(budget(50_000.0));
    let some: Vec<_> = (0..MANY)
        .map(|id| {
            let importance = web.log(-1.0, 1.0);
            let it = Description { host: id % 1000, importance, ..Description::new(id) };
            (it, web.rng.random_range(0.01..1.0))
        })
        .collect();
    web.add(&some);
    let mut ticks = 0;
    while web.engine.len() < MANY as usize {
        web.tell(Event::Tick);
        ticks += 1;
        assert!(ticks <= 100, "{} after {ticks} ticks", web.engine.len());
    }
    assert!(web.most_actions <= 1024 + 16);
    web.run_until(2.5);
    assert!(web.most_actions <= 1024 + 16);
    web.spends(0.0, 2.0, 50_000.0, 50_000.0 / 24.0);

    // Each once, and the most important first.
    let first: Vec<_> = web.between(0.0, 2.5).filter(|it| it.reason == Reason::New).collect();
    assert_eq!(first.len(), MANY as usize);
    let tenths: Vec<f64> =
        first.chunks(10_000).map(|some| mean(some.iter().map(|it| it.importance))).collect();
    assert!(tenths.is_sorted_by(|a, b| a > b), "mean importance by tenths: {tenths:?}");
    let mut best: Vec<f64> = some.iter().map(|it| it.0.importance).collect();
    best.sort_by(|a, b| b.total_cmp(a));
    let best = mean(best[..10_000].iter().copied());
    assert!(tenths[0] > 0.97 * best, "{} of {best}", tenths[0]);
}

#[test]
fn copies_of_all_ages_and_nothing_known() {
    const MANY: u32 = 30_000;
    // In turn, as ten million are.
    let settings = Settings { many: 0, host_gap: 0.0, ..budget(0.2 * f64::from(MANY)) };
    let mut web = Web::new(settings);
    let some: Vec<_> = (0..MANY)
        .map(|id| {
            let importance = web.log(0.0, 1.3);
            let age = 5.0 * web.rng.random::<f64>();
            let it = Description { importance, fetched: Some(-age), ..Description::new(id) };
            (Description { host: id / 100, ..it }, web.log(-1.4, 0.0))
        })
        .collect();
    web.add(&some);
    let mut prices = Vec::new();
    for day in 1..=20 {
        web.run_until(f64::from(day));
        prices.push(web.engine.price());
    }
    web.spends(0.0, 20.0, settings.budget, settings.budget / 24.0);
    // A source is worth looking at again after a part of the five days in which all could be looked at
    // once, whatever its importance: of 1 to 20, the square root at most.
    let mut last = vec![f64::NEG_INFINITY; MANY as usize];
    let mut soon = 0;
    for it in &web.fetches {
        soon += u32::from(it.day - last[it.id as usize] < 0.3);
        last[it.id as usize] = it.day;
    }
    assert!(soon * 100 < MANY, "{soon} of {} fetches soon after another", web.fetches.len());
    // From day to day the price changes little, once the oldest copies are gone.
    for pair in prices[3..].windows(2) {
        assert!((0.7..1.5).contains(&(pair[1] / pair[0])), "prices: {prices:?}");
    }
}

#[test]
fn who_waited_long_goes_by_worth() {
    const MANY: u32 = 20_000;
    let settings = Settings { many: 0, host_gap: 0.0, ..budget(0.2 * f64::from(MANY)) };
    let mut web = Web::new(settings);
    // Nothing was fetched for ten days: far more is worth its price than can be fetched in one.
    let some: Vec<_> = (0..MANY)
        .map(|id| {
            let importance = web.log(0.0, 1.3);
            let age = 10.0 + 5.0 * web.rng.random::<f64>();
            let it = Description { importance, fetched: Some(-age), ..Description::new(id) };
            (Description { host: id / 100, ..it }, web.log(-1.4, 0.0))
        })
        .collect();
    web.add(&some);
    web.run_until(2.0);
    // Without anything known, by importance and age.
    let worth = |id: u32| {
        let it = &some[id as usize].0;
        -it.importance * it.fetched.unwrap_or_default()
    };
    let mut best: Vec<f64> = (0..MANY).map(worth).collect();
    best.sort_by(|a, b| b.total_cmp(a));
    for day in [1, 2] {
        let some = MANY as usize / 5 * day;
        let attained = mean(web.fetches[..some].iter().map(|it| worth(it.id)));
        let best = mean(best[..some].iter().copied());
        assert!(attained > 0.995 * best, "{attained} of {best} by day {day}");
    }
}
