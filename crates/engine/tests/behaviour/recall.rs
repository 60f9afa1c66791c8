//! An engine ends, and another one goes on.

use freshet_engine::{Event, Outcome, Reason, Standing};

use crate::web::{HOUR, MINUTE, Web, budget, down};

const BUDGET: f64 = 2000.0;

#[test]
fn goes_on_as_if_nothing_had_happened() {
    let mut web = Web::new(budget(BUDGET));
    web.add_many(1000, 50);
    web.run_until(20.0);
    let told = |web: &Web, id| web.engine.explain(id).unwrap();
    let before: Vec<_> = (0..1000).map(|id| told(&web, id)).collect();
    let price = web.engine.price();
    web.restart(0.0);
    assert_eq!(web.engine.len(), 1000);
    for was in &before {
        let is = told(&web, was.id);
        assert_eq!((is.last, is.belief), (was.last, was.belief));
        if was.standing == Standing::Waiting {
            assert!(
                (is.due - was.due).abs() < MINUTE,
                "{} due on {}, not {}",
                was.id,
                is.due,
                was.due
            );
        }
    }
    web.run_until(30.0);
    web.spends(20.0, 30.0, BUDGET, BUDGET / 24.0);
    assert!(web.between(20.0, 30.0).all(|it| it.reason != Reason::New));
    let ratio = web.engine.price() / price;
    assert!((0.9..1.1).contains(&ratio), "the price is {ratio} times what it was");
}

#[test]
fn after_a_day_of_rest_there_is_no_burst() {
    let mut web = Web::new(budget(BUDGET));
    web.add_many(1000, 500);
    web.run_until(10.0);
    web.restart(1.0);
    web.run_until(15.0);
    // What was left of the budget, and what flows in.
    let first = web.count(11.0, 11.0 + HOUR);
    assert!(first <= 1.2 * BUDGET * HOUR, "{first} in the first hour");
    web.spends(11.0, 15.0, BUDGET, BUDGET / 24.0);
}

#[test]
fn again_and_again_the_budget_is_kept() {
    let mut web = Web::new(budget(BUDGET));
    web.add_many(300, 300);
    for time in 0..200 {
        web.run_until(f64::from(time) / 20.0);
        web.restart(0.0);
    }
    let spent = web.count(0.0, 10.0);
    assert!((0.95 * BUDGET * 10.0..=1.01 * BUDGET * 10.0).contains(&spent), "{spent} spent");
}

#[test]
fn a_host_that_wants_to_be_left_alone_is() {
    let mut web = Web::new(budget(BUDGET));
    web.add_many(20, 2);
    web.trouble = Box::new(|told, day| {
        let wish = Outcome::Failed { blame: freshet_engine::Blame::Host, retry_after: Some(0.5) };
        (told.host == 1 && day > 3.0).then_some(wish)
    });
    web.run_until(3.2);
    web.restart(0.01);
    web.run_until(3.45);
    assert_eq!(web.between(3.21, 3.45).filter(|it| it.host == 1).count(), 0);
    web.run_until(6.0);
    assert!(web.between(3.5, 6.0).any(|it| it.host == 1));
}

#[test]
fn what_failed_is_tried_when_it_was_to_be() {
    let mut web = Web::new(budget(BUDGET));
    web.add_many(20, 20);
    web.trouble = Box::new(|told, day| if told.id == 7 && day > 2.0 { down() } else { None });
    web.run_until(4.0);
    let before = web.engine.explain(7).unwrap();
    assert!(before.due > 4.0 && before.host.failures > 3);
    web.restart(0.0);
    let after = web.engine.explain(7).unwrap();
    assert_eq!((after.due, after.because), (before.due, before.because));
    assert_eq!(after.host.failures, before.host.failures);
}

#[test]
fn a_fetch_that_nobody_asked_for_counts() {
    let mut web = Web::new(budget(BUDGET));
    web.add_many(20, 2);
    web.run_until(4.0);
    web.tell(Event::Fetching(3));
    assert_eq!(web.engine.explain(3).unwrap().standing, Standing::Asked);
    web.tell(Event::Fetched { id: 3, outcome: Outcome::Changed });
    let it = web.engine.explain(3).unwrap();
    assert_eq!((it.last, it.standing), (Some(4.0), Standing::Waiting));
}
