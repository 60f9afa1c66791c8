//! Hosts that fail, that ask to be left alone, and that cannot take what they are worth.

use freshet_engine::{Alarm, Blame, Description, Outcome, Settings};
use rand::SeedableRng;

use crate::web::{HOUR, MINUTE, Web, budget, down, mean};

#[test]
fn a_third_of_all_hosts_is_down_for_a_day() {
    let mut web = Web::new(budget(600.0));
    web.add_many(2000, 20);
    web.run_until(20.0);
    web.trouble = Box::new(|it, _| if it.host < 6 { down() } else { None });
    web.run_until(21.0);
    web.trouble = Box::new(|_, _| None);
    web.run_until(30.0);

    // The others use the budget.
    web.spends(18.0, 30.0, 600.0, 25.0);
    for host in 0..6 {
        let tried: Vec<f64> =
            web.between(20.0, 22.0).filter(|it| it.host == host).map(|it| it.day).collect();
        let failed: Vec<f64> = tried.iter().copied().filter(|&day| day < 21.0).collect();
        // 1, 2, 4 ... 128 minutes are over after 4 hours, and then one each 4 hours.
        assert!(failed.len() <= 14, "host {host} is asked {} times", failed.len());
        for (at, pair) in failed.windows(2).enumerate() {
            let least = (MINUTE * f64::from(1 << at.min(8))).min(4.0 * HOUR);
            assert!(pair[1] - pair[0] >= least - 1e-9, "host {host}, failure {at}");
        }
        // It is tried within four hours, and then as often as before.
        let back = tried.iter().copied().find(|&day| day >= 21.0).unwrap();
        assert!(back < 21.0 + 4.0 * HOUR + 0.01, "host {host} is asked again on {back}");
        let share = |from, to| web.between(from, to).filter(|it| it.host == host).count() as f64;
        let (before, after) = (share(10.0, 20.0), share(22.0, 30.0) * 10.0 / 8.0);
        assert!(after > 0.8 * before, "host {host}: {before} before, {after} after");
    }
    let day_of = |alarm| web.alarms().filter(|it| it.1 == alarm).map(|it| it.0).collect::<Vec<_>>();
    for host in 0..20 {
        let (down, back) = (day_of(Alarm::HostDown(host)), day_of(Alarm::HostBack(host)));
        if host < 6 {
            assert!(down.len() == 1 && down[0] < 20.3, "host {host} is down on {down:?}");
            assert!(back.len() == 1 && back[0] > 21.0 && back[0] < 21.5, "back on {back:?}");
        } else {
            assert!(down.is_empty() && back.is_empty());
        }
    }
}

#[test]
fn back_off_heals() {
    let mut web = Web::new(budget(600.0));
    web.add_many(200, 2);
    web.run_until(10.0);
    web.trouble = Box::new(|it, _| if it.host == 0 { down() } else { None });
    web.run_until(10.2);
    assert!(web.engine.explain(0).unwrap().host.failures >= 5);
    web.trouble = Box::new(|_, _| None);
    web.run_until(11.0);
    assert_eq!(web.engine.explain(0).unwrap().host.failures, 0);
    // A single failure costs a minute again.
    web.trouble = Box::new(|it, day| if it.host == 0 && day < 11.01 { down() } else { None });
    web.run_until(11.2);
    let asked: Vec<f64> =
        web.between(11.0, 11.2).filter(|it| it.host == 0).map(|it| it.day).take(2).collect();
    assert!(asked[1] - asked[0] < 3.0 * MINUTE, "{asked:?}");
}

#[test]
fn an_hour_of_silence_for_one_host() {
    let mut web = Web::new(budget(2400.0));
    web.add_many(1000, 10);
    web.run_until(5.0);
    web.trouble = Box::new(|it, day| {
        let busy = Outcome::Failed { blame: Blame::Host, retry_after: Some(HOUR) };
        (it.host == 3 && day < 5.02).then_some(busy)
    });
    web.run_until(6.0);
    let asked = web.between(5.0, 6.0).filter(|it| it.host == 3);
    let asked: Vec<f64> = asked.map(|it| it.day).collect();
    let (first, next) = (asked[0], asked[1]);
    assert!(first < 5.02 && next >= first + HOUR, "asked on {first} and {next}");
    assert!(next < first + 1.1 * HOUR, "asked on {first} and {next}");
    for host in (0..10).filter(|&host| host != 3) {
        let asked = web.between(first, first + HOUR).filter(|it| it.host == host).count();
        assert!(asked > 0, "host {host} waits too");
    }
    // 100 an hour in all.
    let spent = web.count(first, first + HOUR);
    assert!((spent - 100.0).abs() < 10.0, "{spent} in that hour");
}

/// A host that can take 50 fetches a day, and has 1000 sources; ten others have 20 each.
#[test]
fn a_saturated_host_has_its_own_price() {
    let mut web = Web::new(Settings { host_gap: 1.0 / 50.0, ..budget(230.0) });
    let some: Vec<_> = (0..1200)
        .map(|id| {
            let host = if id < 1000 { 0 } else { 1 + id % 10 };
            let (importance, fetched) = (web.log(-1.0, 1.0), Some(-web.log(-1.0, 1.0)));
            let it = Description { host, importance, fetched, ..Description::new(id) };
            (it, web.log(-1.0, 0.5))
        })
        .collect();
    web.add(&some);
    web.run_until(60.0);
    let at = |host| web.between(30.0, 60.0).filter(move |it| it.host == host);
    let busy = at(0).count();
    // When it is free, it may have to wait for the budget.
    assert!((1350..=1501).contains(&busy), "{busy} of 1500 at the saturated host");
    web.spends(30.0, 60.0, 230.0, 10.0);

    // Its fetches go to where they are worth most.
    let all = mean(some[..1000].iter().map(|it| it.0.importance));
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
fn a_host_that_rests_does_not_hold_up_the_price() {
    // Nothing is known of anybody, and half of all cannot be had: the budget goes to the others.
    const BUDGET: f64 = 50_000.0;
    for seed in 0..20 {
        let mut web = Web::new(Settings { host_gap: 0.0, ..budget(BUDGET) });
        web.rng = rand_pcg::Pcg64::seed_from_u64(seed);
        web.add_many(40, 2);
        web.trouble = Box::new(|told, _| {
            let wish = Outcome::Failed { blame: Blame::Host, retry_after: Some(HOUR) };
            (told.host == 1).then_some(wish)
        });
        web.run_until(0.5 * HOUR);
        let spent = web.count(0.0, 0.5 * HOUR);
        assert!(spent > 0.8 * BUDGET * 0.5 * HOUR, "{spent} fetches, seed {seed}");
    }
}

#[test]
fn nobody_waits_for_ever_at_a_host_that_cannot_take_all() {
    // One fetch a second, and sources that want one a minute each: five times too many.
    let mut web = Web::new(budget(1e6));
    let one = |id| Description { max_interval: MINUTE, ..Description::new(id) };
    let some: Vec<_> = (0..300).map(|id| (one(id), 1.0)).collect();
    web.add(&some);
    web.run_until(30.0 * MINUTE);
    let mut counts = [0_u32; 300];
    web.fetches.iter().for_each(|it| counts[it.id as usize] += 1);
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(*least >= 2 && *most <= 3 * least, "from {least} to {most} fetches");
}
