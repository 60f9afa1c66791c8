//! Large sets of sources.

use freshet_engine::{EngineSettings, Event, FetchReason, SourceDescription};
use rand::RngExt;

use crate::web::{Web, budget, mean};

#[test]
fn a_hundred_thousand_sources_added_at_once_are_fetched_by_importance() {
    const MANY: u32 = 100_000;
    let mut web = Web::new(budget(50_000.0));
    let pages: Vec<_> = (0..MANY)
        .map(|id| {
            let importance = web.log_uniform(-1.0, 1.0);
            let it =
                SourceDescription { host: id % 1000, importance, ..SourceDescription::new(id) };
            (it, web.rng.random_range(0.01..1.0))
        })
        .collect();
    web.add(&pages);
    let mut ticks = 0;
    while web.engine.len() < MANY as usize {
        web.send(Event::Tick);
        ticks += 1;
        assert!(ticks <= 100, "{} after {ticks} ticks", web.engine.len());
    }
    assert!(web.max_actions <= 1024 + 16);
    web.run_until(2.5);
    assert!(web.max_actions <= 1024 + 16);
    web.assert_daily_spending(0.0, 2.0, 50_000.0, 50_000.0 / 24.0);

    // Each source once, the most important first.
    let first: Vec<_> =
        web.fetches_between(0.0, 2.5).filter(|it| it.reason == FetchReason::New).collect();
    assert_eq!(first.len(), MANY as usize);
    let tenths: Vec<f64> =
        first.chunks(10_000).map(|pages| mean(pages.iter().map(|it| it.importance))).collect();
    assert!(tenths.is_sorted_by(|a, b| a > b), "mean importance by tenths: {tenths:?}");
    let mut best: Vec<f64> = pages.iter().map(|it| it.0.importance).collect();
    best.sort_by(|a, b| b.total_cmp(a));
    let best = mean(best[..10_000].iter().copied());
    assert!(tenths[0] > 0.97 * best, "{} of {best}", tenths[0]);
}

#[test]
fn a_large_unknown_set_has_a_stable_price() {
    const MANY: u32 = 30_000;
    // Fetched in the order of due days, as in a set of ten million.
    let settings =
        EngineSettings { large_set_threshold: 0, host_gap: 0.0, ..budget(0.2 * f64::from(MANY)) };
    let mut web = Web::new(settings);
    let pages: Vec<_> = (0..MANY)
        .map(|id| {
            let importance = web.log_uniform(0.0, 1.3);
            let age = 5.0 * web.rng.random::<f64>();
            let it = SourceDescription {
                importance,
                last_fetch: Some(-age),
                ..SourceDescription::new(id)
            };
            (SourceDescription { host: id / 100, ..it }, web.log_uniform(-1.4, 0.0))
        })
        .collect();
    web.add(&pages);
    let mut prices = Vec::new();
    for day in 1..=20 {
        web.run_until(f64::from(day));
        prices.push(web.engine.price());
    }
    web.assert_daily_spending(0.0, 20.0, settings.budget, settings.budget / 24.0);
    // The interval of a source is a share of the five-day cycle, whatever its importance: with
    // importances of 1 to 20, it varies by the square root of 20 at most.
    let mut last = vec![f64::NEG_INFINITY; MANY as usize];
    let mut early_refetches = 0;
    for it in &web.fetches {
        early_refetches += u32::from(it.day - last[it.id as usize] < 0.3);
        last[it.id as usize] = it.day;
    }
    assert!(
        early_refetches * 100 < MANY,
        "{early_refetches} of {} fetches soon after another",
        web.fetches.len()
    );
    // The price changes little from day to day once the oldest copies are gone.
    for pair in prices[3..].windows(2) {
        assert!((0.7..1.5).contains(&(pair[1] / pair[0])), "prices: {prices:?}");
    }
}

#[test]
fn an_overdue_large_set_is_fetched_by_value() {
    const MANY: u32 = 20_000;
    let settings =
        EngineSettings { large_set_threshold: 0, host_gap: 0.0, ..budget(0.2 * f64::from(MANY)) };
    let mut web = Web::new(settings);
    // Nothing was fetched for ten days: far more is worth the price than can be fetched in one day.
    let pages: Vec<_> = (0..MANY)
        .map(|id| {
            let importance = web.log_uniform(0.0, 1.3);
            let age = 10.0 + 5.0 * web.rng.random::<f64>();
            let it = SourceDescription {
                importance,
                last_fetch: Some(-age),
                ..SourceDescription::new(id)
            };
            (SourceDescription { host: id / 100, ..it }, web.log_uniform(-1.4, 0.0))
        })
        .collect();
    web.add(&pages);
    web.run_until(2.0);
    // Without observations the value depends on importance and age.
    let worth = |id: u32| {
        let it = &pages[id as usize].0;
        -it.importance * it.last_fetch.unwrap_or_default()
    };
    let mut best: Vec<f64> = (0..MANY).map(worth).collect();
    best.sort_by(|a, b| b.total_cmp(a));
    for day in [1, 2] {
        let pages = MANY as usize / 5 * day;
        let attained = mean(web.fetches[..pages].iter().map(|it| worth(it.id)));
        let best = mean(best[..pages].iter().copied());
        assert!(attained > 0.995 * best, "{attained} of {best} by day {day}");
    }
}
