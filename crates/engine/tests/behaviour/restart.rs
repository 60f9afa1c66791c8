//! Restarts: a new engine continues from checkpoints.

use freshet_engine::{Event, FetchReason, FetchResult, SourcePhase};

use crate::web::{HOUR, MINUTE, Web, budget, down};

const BUDGET: f64 = 2000.0;

#[test]
fn a_restart_keeps_beliefs_due_days_and_price() {
    let mut web = Web::new(budget(BUDGET));
    web.add_many(1000, 50);
    web.run_until(20.0);
    let description = |web: &Web, id| web.engine.explain(id).unwrap();
    let before: Vec<_> = (0..1000).map(|id| description(&web, id)).collect();
    let price = web.engine.price();
    web.restart(0.0);
    assert_eq!(web.engine.len(), 1000);
    for before_restart in &before {
        let is = description(&web, before_restart.id);
        assert_eq!((is.last_fetch, is.belief), (before_restart.last_fetch, before_restart.belief));
        if before_restart.phase == SourcePhase::Waiting {
            assert!(
                (is.due_day - before_restart.due_day).abs() < MINUTE,
                "{} due on {}, not {}",
                before_restart.id,
                is.due_day,
                before_restart.due_day
            );
        }
    }
    web.run_until(30.0);
    web.assert_daily_spending(20.0, 30.0, BUDGET, BUDGET / 24.0);
    assert!(web.fetches_between(20.0, 30.0).all(|it| it.reason != FetchReason::New));
    let ratio = web.engine.price() / price;
    assert!((0.9..1.1).contains(&ratio), "the price is {ratio} times what it was");
}

#[test]
fn downtime_does_not_cause_a_burst() {
    let mut web = Web::new(budget(BUDGET));
    web.add_many(1000, 500);
    web.run_until(10.0);
    web.restart(1.0);
    web.run_until(15.0);
    // The remaining budget plus the inflow.
    let first = web.count(11.0, 11.0 + HOUR);
    assert!(first <= 1.2 * BUDGET * HOUR, "{first} in the first hour");
    web.assert_daily_spending(11.0, 15.0, BUDGET, BUDGET / 24.0);
}

#[test]
fn frequent_restarts_keep_the_budget() {
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
fn a_requested_pause_survives_a_restart() {
    let mut web = Web::new(budget(BUDGET));
    web.add_many(20, 2);
    web.failure_rule = Box::new(|description, day| {
        let pause = FetchResult::Failed {
            cause: freshet_engine::FailureCause::Host,
            retry_after: Some(0.5),
        };
        (description.host == 1 && day > 3.0).then_some(pause)
    });
    web.run_until(3.2);
    web.restart(0.01);
    web.run_until(3.45);
    assert_eq!(web.fetches_between(3.21, 3.45).filter(|it| it.host == 1).count(), 0);
    web.run_until(6.0);
    assert!(web.fetches_between(3.5, 6.0).any(|it| it.host == 1));
}

#[test]
fn a_retry_keeps_its_day_after_a_restart() {
    let mut web = Web::new(budget(BUDGET));
    web.add_many(20, 20);
    web.failure_rule =
        Box::new(|description, day| if description.id == 7 && day > 2.0 { down() } else { None });
    web.run_until(4.0);
    let before = web.engine.explain(7).unwrap();
    assert!(before.due_day > 4.0 && before.host.failures > 3);
    web.restart(0.0);
    let after = web.engine.explain(7).unwrap();
    assert_eq!((after.due_day, after.due_reason), (before.due_day, before.due_reason));
    assert_eq!(after.host.failures, before.host.failures);
}

#[test]
fn an_external_fetch_updates_the_source() {
    let mut web = Web::new(budget(BUDGET));
    web.add_many(20, 2);
    web.run_until(4.0);
    web.send(Event::FetchStarted(3));
    assert_eq!(web.engine.explain(3).unwrap().phase, SourcePhase::InFlight);
    web.send(Event::FetchFinished { id: 3, outcome: FetchResult::Changed });
    let it = web.engine.explain(3).unwrap();
    assert_eq!((it.last_fetch, it.phase), (Some(4.0), SourcePhase::Waiting));
}
