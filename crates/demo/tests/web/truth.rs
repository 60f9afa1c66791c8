//! The web's measurements of copies, compared with closed forms and with the simulator.

use freshet_demo::{Client, Fetched, Rule, Truth, Window, World, score};
use freshet_model::{ChangeTrace, TimeRange};
use freshet_sim::Distribution;

const DAY: f64 = 86_400.0;

/// Pages that change on these days of four.
fn world(days: &[&[f64]]) -> World {
    let mut ids = freshet_model::PackedStrings::default();
    let mut changes = Vec::new();
    for (page, days) in (0..).zip(days) {
        ids.push(&format!("site/page {page}"));
        changes.extend(days.iter().map(|day| (page, day * DAY)));
    }
    let lives = vec![TimeRange { start: 0.0, end: 4.0 * DAY }; days.len()];
    let history = ChangeTrace::new(ids, lives, &changes);
    let window = Window { start: 0.0, days: 4.0 };
    World::recorded(1, &history, window, Distribution::Equal(1.0)).unwrap()
}

#[test]
fn a_copy_is_fresh_from_its_fetch_to_the_next_change() {
    let mut truth = Truth::new(&world(&[&[1.0, 2.0]]), false);
    let start = truth.standing(0.0);
    assert_eq!(start.fresh, [0.0; 3]);
    truth.answered(Client::Freshet, 0, 0.5);
    truth.answered(Client::Freshet, 0, 1.5);
    truth.answered(Client::Freshet, 0, 1.75);
    truth.answered(Client::Nutch, 0, 3.0);
    let end = truth.standing(4.0);
    // From 0.5 to 1 and from 1.5 to 2; nobody; from 3 on.
    assert_eq!(end.fresh_days, [1.0, 0.0, 1.0]);
    assert_eq!(end.fresh, [0.0, 0.0, 1.0]);
    assert_eq!(end.mean_since(&start, Client::Freshet), 0.25);
    assert_eq!(truth.tally(Client::Freshet).changes, 1);
    assert_eq!(truth.tally(Client::Nutch).changes, 0);
}

#[test]
fn versions_follow_the_days() {
    let mut truth = Truth::new(&world(&[&[1.0, 1.0, 2.5], &[]]), false);
    for (day, number, since) in [(0.9, 0, 0.0), (1.0, 2, 1.0), (2.4, 2, 1.0), (3.9, 3, 2.5)] {
        let version = truth.version(0, day);
        assert_eq!((version.number, version.since), (number, since), "day {day}");
        assert_eq!(truth.version(1, day).number, 0);
    }
}

#[test]
fn importance_weighs() {
    let world = World::made(4, 50).unwrap();
    let importance: Vec<f64> = world.importance().collect();
    let sum: f64 = importance.iter().sum();
    let mut truth = Truth::new(&world, false);
    truth.answered(Client::Equal, 7, 0.0);
    let fresh = truth.standing(0.0).fresh[Client::Equal as usize];
    assert!((fresh - importance[7] / sum).abs() < 1e-12);
}

// DESIGN §2: polled every τ days, a page that changes at rate c is fresh (1 − e^(−cτ))/(cτ) of the
// time.
#[test]
fn equal_polling_reaches_what_the_formula_says() {
    let world = World::made(8, 400).unwrap();
    let importance: Vec<f64> = world.importance().collect();
    let mut truth = Truth::new(&world, false);
    truth.copy_all(0.0);
    let mut rule = freshet_demo::Equal::new(&world.order());
    let (days, per_day) = (60.0, 5.0 * 400.0);
    let fetches = (days * per_day) as u32;
    for number in 0..fetches {
        let page = rule.next().unwrap();
        truth.answered(Client::Equal, page, f64::from(number) / per_day);
    }
    let end = truth.standing(days);
    let expect = (0..400_u32).map(|page| {
        let missed = world.rate(page) / 5.0;
        importance[page as usize] * (1.0 - (-missed).exp()) / missed
    });
    let expect = expect.sum::<f64>() / importance.iter().sum::<f64>();
    let mean = end.fresh_days[Client::Equal as usize] / days;
    // The deviation of 300 rounds of the most important page is 0.003 of all.
    assert!((mean - expect).abs() < 0.01, "{mean} is not {expect}");
}

#[test]
fn the_simulator_scores_the_same_fetches_the_same() {
    for seed in 1..=5 {
        let world = World::made(seed, 300).unwrap();
        let mut truth = Truth::new(&world, true);
        truth.copy_all(0.0);
        let mut rule = freshet_demo::Nutch::new(&world.order(), 0.1, 1.0);
        let mut middle = None;
        for number in 0..6000 {
            let day = f64::from(number) / 3000.0;
            if day >= 0.5 {
                middle.get_or_insert_with(|| truth.standing(0.5));
            }
            let page = rule.next().unwrap();
            truth.answered(Client::Nutch, page, day);
            rule.learn(page, day, freshet_demo::Seen::Same);
        }
        let end = truth.standing(2.0);
        let ours = end.mean_since(&middle.unwrap(), Client::Nutch);
        let theirs = score(&world, truth.fetched(Client::Nutch), 2.0, 0.5).unwrap();
        assert!((ours - theirs).abs() < 1e-9, "{ours} is not {theirs}");
        let nothing = score(&world, &[], 2.0, 0.5).unwrap();
        assert!(nothing < theirs);
        // In any order: the days tell.
        let mut list: Vec<Fetched> = truth.fetched(Client::Nutch).to_vec();
        list.reverse();
        assert_eq!(score(&world, &list, 2.0, 0.5).unwrap(), theirs);
    }
}
