//! Host tests: failures, requested pauses, and saturated hosts.

use freshet_engine::{Alarm, EngineSettings, FailureCause, FetchResult, SourceDescription};
use rand::SeedableRng;

use crate::web::{HOUR, MINUTE, Web, budget, down, mean};

#[test]
fn hosts_that_are_down_for_a_day_back_off_and_recover() {
    let mut web = Web::new(budget(600.0));
    web.add_many(2000, 20);
    web.run_until(20.0);
    web.failure_rule = Box::new(|it, _| if it.host < 6 { down() } else { None });
    web.run_until(21.0);
    web.failure_rule = Box::new(|_, _| None);
    web.run_until(30.0);

    // The other hosts use the budget.
    web.assert_daily_spending(18.0, 30.0, 600.0, 25.0);
    for host in 0..6 {
        let tried: Vec<f64> =
            web.fetches_between(20.0, 22.0).filter(|it| it.host == host).map(|it| it.day).collect();
        let failed: Vec<f64> = tried.iter().copied().filter(|&day| day < 21.0).collect();
        // 1, 2, 4 ... 128 minutes are over after 4 hours, and then one each 4 hours.
        assert!(failed.len() <= 14, "host {host} is asked {} times", failed.len());
        for (at, pair) in failed.windows(2).enumerate() {
            let min = (MINUTE * f64::from(1 << at.min(8))).min(4.0 * HOUR);
            assert!(pair[1] - pair[0] >= min - 1e-9, "host {host}, failure {at}");
        }
        // It is tried within four hours, and then as often as before.
        let back = tried.iter().copied().find(|&day| day >= 21.0).unwrap();
        assert!(back < 21.0 + 4.0 * HOUR + 0.01, "host {host} is asked again on {back}");
        let share =
            |from, to| web.fetches_between(from, to).filter(|it| it.host == host).count() as f64;
        let (before, after) = (share(10.0, 20.0), share(22.0, 30.0) * 10.0 / 8.0);
        assert!(after > 0.8 * before, "host {host}: {before} before, {after} after");
    }
    let day_of = |alarm| web.alarms().filter(|it| it.1 == alarm).map(|it| it.0).collect::<Vec<_>>();
    for host in 0..20 {
        let (down, back) = (day_of(Alarm::HostDown(host)), day_of(Alarm::HostRecovered(host)));
        if host < 6 {
            assert!(down.len() == 1 && down[0] < 20.3, "host {host} is down on {down:?}");
            assert!(back.len() == 1 && back[0] > 21.0 && back[0] < 21.5, "back on {back:?}");
        } else {
            assert!(down.is_empty() && back.is_empty());
        }
    }
}

#[test]
fn back_off_resets_after_successes() {
    let mut web = Web::new(budget(600.0));
    web.add_many(200, 2);
    web.run_until(10.0);
    web.failure_rule = Box::new(|it, _| if it.host == 0 { down() } else { None });
    web.run_until(10.2);
    assert!(web.engine.explain(0).unwrap().host.failures >= 5);
    web.failure_rule = Box::new(|_, _| None);
    web.run_until(11.0);
    assert_eq!(web.engine.explain(0).unwrap().host.failures, 0);
    // A single failure costs a minute again.
    web.failure_rule = Box::new(|it, day| if it.host == 0 && day < 11.01 { down() } else { None });
    web.run_until(11.2);
    let asked: Vec<f64> = web
        .fetches_between(11.0, 11.2)
        .filter(|it| it.host == 0)
        .map(|it| it.day)
        .take(2)
        .collect();
    assert!(asked[1] - asked[0] < 3.0 * MINUTE, "{asked:?}");
}

#[test]
fn retry_after_pauses_only_one_host() {
    let mut web = Web::new(budget(2400.0));
    web.add_many(1000, 10);
    web.run_until(5.0);
    web.failure_rule = Box::new(|it, day| {
        let busy = FetchResult::Failed { cause: FailureCause::Host, retry_after: Some(HOUR) };
        (it.host == 3 && day < 5.02).then_some(busy)
    });
    web.run_until(6.0);
    let asked = web.fetches_between(5.0, 6.0).filter(|it| it.host == 3);
    let asked: Vec<f64> = asked.map(|it| it.day).collect();
    let (first, next) = (asked[0], asked[1]);
    assert!(first < 5.02 && next >= first + HOUR, "asked on {first} and {next}");
    assert!(next < first + 1.1 * HOUR, "asked on {first} and {next}");
    for host in (0..10).filter(|&host| host != 3) {
        let asked = web.fetches_between(first, first + HOUR).filter(|it| it.host == host).count();
        assert!(asked > 0, "host {host} waits too");
    }
    // 100 an hour in all.
    let spent = web.count(first, first + HOUR);
    assert!((spent - 100.0).abs() < 10.0, "{spent} in that hour");
}

/// A host that can take 50 fetches a day and has 1000 sources; ten others have 20 each.
#[test]
fn a_saturated_host_has_its_own_price() {
    let mut web = Web::new(EngineSettings { host_gap: 1.0 / 50.0, ..budget(230.0) });
    let pages: Vec<_> = (0..1200)
        .map(|id| {
            let host = if id < 1000 { 0 } else { 1 + id % 10 };
            let (importance, fetched) =
                (web.log_uniform(-1.0, 1.0), Some(-web.log_uniform(-1.0, 1.0)));
            let it = SourceDescription {
                host,
                importance,
                last_fetch: fetched,
                ..SourceDescription::new(id)
            };
            (it, web.log_uniform(-1.0, 0.5))
        })
        .collect();
    web.add(&pages);
    web.run_until(60.0);
    let at = |host| web.fetches_between(30.0, 60.0).filter(move |it| it.host == host);
    let busy = at(0).count();
    // When it is available, it may have to wait for the budget.
    assert!((1350..=1501).contains(&busy), "{busy} of 1500 at the saturated host");
    web.assert_daily_spending(30.0, 60.0, 230.0, 10.0);

    // Its fetches go to the most valuable sources.
    let all = mean(pages[..1000].iter().map(|it| it.0.importance));
    let chosen = mean(at(0).map(|it| it.importance));
    assert!(chosen > 1.5 * all, "mean importance {chosen}, of all {all}");
    let usual = mean((1..11).flat_map(at).map(|it| it.importance));
    assert!(chosen > 1.1 * usual, "mean importance {chosen}, elsewhere {usual}");

    let prices: Vec<(u32, f64)> = web.engine.host_prices().collect();
    assert_eq!(prices.len(), 1, "{prices:?}");
    let (host, price) = prices[0];
    assert!(host == 0 && price > 1.25 * web.engine.price(), "{prices:?}, {}", web.engine.price());
    assert_eq!(web.engine.explain(5).unwrap().host.price, Some(price));
}

#[test]
fn a_pausing_host_does_not_raise_the_price() {
    // Nothing is known about any source, and half of them are unavailable: the budget goes to the
    // others.
    const BUDGET: f64 = 50_000.0;
    for seed in 0..20 {
        let mut web = Web::new(EngineSettings { host_gap: 0.0, ..budget(BUDGET) });
        web.rng = rand_pcg::Pcg64::seed_from_u64(seed);
        web.add_many(40, 2);
        web.failure_rule = Box::new(|description, _| {
            let pause = FetchResult::Failed { cause: FailureCause::Host, retry_after: Some(HOUR) };
            (description.host == 1).then_some(pause)
        });
        web.run_until(0.5 * HOUR);
        let spent = web.count(0.0, 0.5 * HOUR);
        assert!(spent > 0.8 * BUDGET * 0.5 * HOUR, "{spent} fetches, seed {seed}");
    }
}

#[test]
fn an_overloaded_host_starves_no_source() {
    // One fetch a second, and sources that need one a minute each: five times too many.
    let mut web = Web::new(budget(1e6));
    let one = |id| SourceDescription { max_interval: MINUTE, ..SourceDescription::new(id) };
    let pages: Vec<_> = (0..300).map(|id| (one(id), 1.0)).collect();
    web.add(&pages);
    web.run_until(30.0 * MINUTE);
    let mut counts = [0_u32; 300];
    web.fetches.iter().for_each(|it| counts[it.id as usize] += 1);
    let (min, max) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(*min >= 2 && *max <= 3 * min, "from {min} to {max} fetches");
}
