//! Budgets, hosts, sources and rates that change while policies run.

#![allow(clippy::unwrap_used)]

use freshet_model::{Budget, ChangeTrace, PackedStrings, PerDay, TimeRange};
use freshet_sim::{
    Allowance, Distribution, Experiment, FaultKind, InvalidScenarioEvent, MomentKind, Origin,
    Outcome, PolicyKind, PolicyReport, Report, Scenario, ScenarioAction, ScenarioEvent, Selection,
    SimError, Synthetic, WebKind,
};

const DAYS: usize = 180;
/// Requests a day at first.
const BUDGET: f64 = 400.0;

const WEB: Synthetic = Synthetic {
    sources: 1000,
    rates: Distribution::LogNormal { median: 0.2, sigma: 1.0 },
    importance: Distribution::LogNormal { median: 1.0, sigma: 1.0 },
    observed: 0.0,
    per_host: 10.0,
};

/// Returns all days count, each in a piece of its own.
fn experiment(policies: &[&str], turns: Vec<ScenarioEvent>) -> Experiment {
    let mut experiment = Experiment::new(Origin::Synthetic(WEB, WebKind::Poisson));
    experiment.budget = Budget::Total(PerDay::new(BUDGET).unwrap());
    experiment.days = Some(DAYS as f64);
    experiment.burn_in = Some(0.0);
    experiment.pieces = DAYS;
    experiment.seeds = 3;
    experiment.policies = policies.iter().map(|name| name.parse().unwrap()).collect();
    experiment.scenario = Scenario { turns };
    experiment
}

fn report(experiment: &Experiment) -> Report {
    experiment.run(&|_| {}).unwrap()
}

fn of<'a>(report: &'a Report, name: &str) -> &'a PolicyReport {
    report.policies.iter().find(|policy| policy.policy.to_string() == name).unwrap()
}

/// Returns the mean of a series from one day to another.
fn mean(series: &[f64], from: usize, to: usize) -> f64 {
    series[from..to].iter().sum::<f64>() / (to - from) as f64
}

/// Returns how much worse than the optimum the engine does between two days.
fn excess(report: &Report, from: usize, to: usize) -> f64 {
    let cost = |name| mean(&of(report, name).series.harmonic_cost, from, to);
    cost("engine") / cost("optimum") - 1.0
}

fn budget(day: f64, share: f64) -> ScenarioEvent {
    ScenarioEvent { day, what: ScenarioAction::Budget(Allowance::Share(share)) }
}

fn outage(day: f64, kind: FaultKind) -> ScenarioEvent {
    ScenarioEvent {
        day,
        what: ScenarioAction::Outage { days: 1.0, hosts: Selection::Share(0.3), kind },
    }
}

fn rates(day: f64, factor: f64) -> ScenarioEvent {
    ScenarioEvent { day, what: ScenarioAction::Rates { sources: Selection::Share(0.1), factor } }
}

#[test]
fn a_budget_that_is_halved_doubled_taken_away_and_given_back() {
    let turns = vec![budget(40.0, 0.5), budget(80.0, 2.0), budget(110.0, 0.0), budget(120.0, 1.0)];
    // 40 days of 400, 40 of 200, 30 of 800, 10 of 0, 60 of 400.
    let spans = [(0, 40, 1.0), (40, 80, 0.5), (80, 110, 2.0), (110, 120, 0.0), (120, 180, 1.0)];
    let names = [
        "engine",
        "engine:known",
        "optimum",
        "optimum:poisson",
        "optimum:edf",
        "optimum:golden",
        "greedy",
        "uniform",
        "change-rate",
        "importance",
        "lambda",
    ];
    let report = report(&experiment(&names, turns));
    assert_eq!(report.budget, BUDGET);
    for policy in &report.policies {
        let (name, requests) = (&policy.policy, &policy.series.requests);
        // Poisson fetches of eight thousand or more, over three seeds, vary by 2 % at most.
        let close = if policy.policy.kind == PolicyKind::Engine { 0.01 } else { 0.02 };
        for (from, to, share) in spans {
            let spent = mean(requests, from, to) / BUDGET;
            assert!((spent - share).abs() <= close * share, "{name} {from}–{to}: {spent}");
        }
    }
    // As good as the optimum before, within it, and from five days after it on.
    for (from, to) in [(20, 40), (45, 80), (85, 110), (125, 180)] {
        let excess = excess(&report, from, to);
        assert!(excess < 0.05, "{from}–{to}: {excess}");
    }
    let fresh = &of(&report, "engine").series.freshness;
    assert!(mean(fresh, 110, 120) < mean(fresh, 20, 40) - 0.2, "nothing is fetched");
    assert!((mean(fresh, 125, 180) - mean(fresh, 20, 40)).abs() < 0.02, "it does not recover");
}

#[test]
fn rules_that_know_no_budget_spend_as_much_in_all() {
    let turns = vec![budget(100.0, 0.5), budget(120.0, 0.0), budget(140.0, 1.5)];
    let mut experiment = experiment(&["nutch", "stormcrawler", "miniflux", "fixed"], turns);
    experiment.burn_in = Some(90.0);
    let report = report(&experiment);
    // 10 days of 400, 20 of 200, 20 of 0, 40 of 600.
    let mean = (10.0 + 20.0 * 0.5 + 40.0 * 1.5) / 90.0;
    assert!((report.budget / BUDGET - mean).abs() < 1e-9, "{}", report.budget);
    for policy in &report.policies {
        let spent = policy.measured.requests.mean / (report.budget * 90.0);
        assert!((spent - 1.0).abs() < 0.02, "{}: {spent}", policy.policy);
    }
}

#[test]
fn hosts_that_are_silent_for_a_day() {
    for kind in [FaultKind::Timeout, FaultKind::Slow] {
        let well = report(&experiment(&["engine"], Vec::new()));
        let ill = report(&experiment(&["engine"], vec![outage(60.0, kind)]));
        let (well, ill) = (&of(&well, "engine").series, &of(&ill, "engine").series);
        // Spending continues; its share for the silent hosts is not checked here.
        for day in 60..62 {
            let spent = ill.requests[day] / BUDGET;
            assert!((spent - 1.0).abs() < 0.01, "{kind:?}, day {day}: {spent}");
        }
        for day in 0..60 {
            // Equal, except for the order of summation.
            let difference = (well.freshness[day] - ill.freshness[day]).abs();
            assert!(difference < 1e-9, "{kind:?}: nothing happens before, on day {day}");
        }
        if kind == FaultKind::Timeout {
            assert!(ill.freshness[60] < well.freshness[60] - 0.01, "{kind:?}: it does not show");
        }
        // Two days after it.
        let (well, ill) = (mean(&well.freshness, 63, 90), mean(&ill.freshness, 63, 90));
        assert!((well - ill).abs() < 0.01, "{kind:?}: {ill}, not {well}");
    }
}

#[test]
fn a_thousand_sources_at_noon() {
    let turns = vec![ScenarioEvent { day: 80.5, what: ScenarioAction::Arrival(1000) }];
    let mut experiment = experiment(&["engine", "optimum"], turns);
    let sources = 2000;
    experiment.origin = Origin::Synthetic(Synthetic { sources, ..WEB }, WebKind::Poisson);
    let report = report(&experiment);
    let requests = &of(&report, "engine").series.requests;
    for (day, spent) in requests.iter().enumerate().skip(1) {
        assert!((spent / BUDGET - 1.0).abs() < 0.01, "day {day}: {spent}");
    }
    // There are twice as many to be looked after, none of which is known: a month later that is made
    // up for.
    assert!(excess(&report, 40, 80) < 0.06, "{}", excess(&report, 40, 80));
    assert!(excess(&report, 110, 180) < 0.06, "{}", excess(&report, 110, 180));
    // A budget for each source counts them from their day on.
    let present = |each: f64| {
        let mut experiment = experiment.clone();
        experiment.budget = Budget::PerSource(PerDay::new(each).unwrap());
        experiment.policies.truncate(1);
        experiment.seeds = 1;
        self::report(&experiment).budget / each
    };
    let expect = 1000.0 + 1000.0 * (180.0 - 80.5) / 180.0;
    assert!((present(0.1) - expect).abs() < 1e-6, "{}", present(0.1));
}

#[test]
fn arrivals_take_the_last_sources_the_last_ones_last() {
    let arrival = |day, sources| ScenarioEvent { day, what: ScenarioAction::Arrival(sources) };
    let mut experiment = experiment(&["engine"], vec![arrival(30.0, 3), arrival(20.0, 5)]);
    experiment.days = Some(40.0);
    for (source, day) in [(0, 0.0), (991, 0.0), (992, 20.0), (996, 20.0), (997, 30.0), (999, 30.0)]
    {
        let first = experiment.explain(source).unwrap().moments[0];
        assert_eq!((first.day, first.what), (day, MomentKind::Described), "source {source}");
    }
}

#[test]
fn rates_that_are_ten_times_as_high_all_at_once() {
    let report = report(&experiment(&["engine", "optimum", "uniform"], vec![rates(60.0, 10.0)]));
    let cost = |name: &str| mean(&of(&report, name).series.harmonic_cost, 90, 180);
    assert!(cost("uniform") > 1.2 * cost("optimum"), "the bound is told");
    // The engine has learned it a month later.
    assert!(excess(&report, 30, 60) < 0.05, "{}", excess(&report, 30, 60));
    assert!(excess(&report, 90, 180) < 0.05, "{}", excess(&report, 90, 180));
}

#[test]
fn rates_that_go_back_are_as_before() {
    // The same tenth both times: the share of a share is always the same.
    let turns = vec![rates(60.0, 10.0), rates(90.0, 0.1)];
    let drift = report(&experiment(&["optimum"], turns));
    let still = report(&experiment(&["optimum"], Vec::new()));
    let cost = |it: &Report, from, to| mean(&of(it, "optimum").series.harmonic_cost, from, to);
    assert!((cost(&drift, 0, 60) - cost(&still, 0, 60)).abs() < 1e-9, "nothing happened yet");
    assert!(cost(&drift, 60, 90) > 1.1 * cost(&still, 60, 90));
    let (drift, still) = (cost(&drift, 100, 180), cost(&still, 100, 180));
    assert!((drift / still - 1.0).abs() < 0.03, "{drift}, not {still}");
}

#[test]
fn those_who_know_the_rates_are_told_the_new_ones() {
    let names = ["optimum", "optimum:edf", "greedy", "engine:known"];
    let report = report(&experiment(&names, vec![rates(60.0, 10.0)]));
    let bound = mean(&of(&report, "optimum").series.harmonic_cost, 65, 180);
    for name in names {
        let cost = mean(&of(&report, name).series.harmonic_cost, 65, 180);
        assert!((cost / bound - 1.0).abs() < 0.02, "{name}: {cost}, not {bound}");
    }
}

/// Returns all at once, for every policy.
fn busy() -> Experiment {
    let turns = vec![
        budget(10.0, 0.5),
        budget(12.5, 0.0),
        budget(13.0, 1.0),
        outage(14.0, FaultKind::Timeout),
        outage(16.0, FaultKind::Slow),
        rates(17.0, 10.0),
        ScenarioEvent { day: 18.5, what: ScenarioAction::Arrival(30) },
    ];
    // All but `wic`, which only captures.
    let fit = PolicyKind::ALL.iter().filter(|&&kind| kind != PolicyKind::Wic);
    let names: Vec<&str> = fit.map(|kind| kind.name()).collect();
    let mut experiment = experiment(&names, turns);
    experiment.days = Some(30.0);
    experiment.pieces = 30;
    experiment.seeds = 2;
    experiment
}

#[test]
fn the_same_seed_gives_the_same_report_on_any_number_of_threads() {
    for &web in WebKind::ALL {
        let mut experiment = busy();
        let rates = Distribution::Uniform { low: 0.0, high: 0.09 };
        experiment.origin =
            Origin::Synthetic(Synthetic { sources: 150, observed: 0.2, rates, ..WEB }, web);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| format!("{:?}", report(&experiment)))
        };
        assert_eq!(on(1), on(3), "{web}");
    }
}

#[test]
fn explaining_changes_nothing_and_tells_all() {
    let few = Synthetic { sources: 80, ..WEB };
    let origin = Origin::Synthetic(few, WebKind::Poisson);
    let budget = Budget::PerSource(PerDay::new(0.4).unwrap());
    let experiment = Experiment { seeds: 1, origin, budget, ..busy() };
    let engine = Experiment { policies: vec![PolicyKind::Engine.into()], ..experiment.clone() };
    let mut fetched = 0;
    for source in 0..few.sources as u32 {
        let story = experiment.explain(source).unwrap();
        if source < 5 {
            assert_eq!(story, engine.explain(source).unwrap());
        }
        assert!(story.moments.is_sorted_by(|one, other| one.day <= other.day));
        assert!(story.moments.last().is_some_and(|last| last.what == MomentKind::End));
        let mut missed = 0;
        for moment in &story.moments {
            match moment.what {
                MomentKind::Fetched { outcome, asked, .. } => {
                    fetched += 1;
                    assert!(asked <= moment.day);
                    match outcome {
                        // What the run says of a fetch is what the story counted.
                        Outcome::Changed { times } => assert_eq!(times, missed),
                        Outcome::Unchanged => assert_eq!(missed, 0),
                        Outcome::Failed => assert!((14.0..15.0).contains(&moment.day)),
                        Outcome::Gone => unreachable!("no host goes away"),
                    }
                }
                MomentKind::Changed => assert_eq!(moment.missed, missed + 1),
                _ => {}
            }
            missed = moment.missed;
        }
    }
    let requests: f64 = of(&report(&engine), "engine").series.requests.iter().sum();
    // Slow answers can be on their way at the end.
    assert!((requests - f64::from(fetched)).abs() <= 5.0, "{requests} {fetched}");
}

#[test]
fn what_cannot_happen() {
    let check = |turn: ScenarioEvent, origin: Option<Origin>, expect: InvalidScenarioEvent| {
        let mut experiment = experiment(&["engine"], vec![budget(1.0, 1.0), turn]);
        experiment.days = Some(2.0);
        if let Some(origin) = origin {
            experiment.origin = origin;
        }
        let why = SimError::Scenario { place: 1, why: expect };
        assert_eq!(experiment.run(&|_| {}).unwrap_err(), why);
        assert_eq!(experiment.explain(0).unwrap_err(), why);
    };
    check(budget(2.0, 1.0), None, InvalidScenarioEvent::Day { day: 2.0, days: 2.0 });
    check(budget(-1.0, 1.0), None, InvalidScenarioEvent::Day { day: -1.0, days: 2.0 });
    let arrival = |sources| ScenarioEvent { day: 1.0, what: ScenarioAction::Arrival(sources) };
    check(arrival(1001), None, InvalidScenarioEvent::Arrivals { wanted: 1001, there: 1000 });
    let hosts = Selection::List(vec![3, 100]);
    let what = ScenarioAction::Outage { days: 1.0, hosts, kind: FaultKind::Slow };
    let number = |what, number, there| InvalidScenarioEvent::Number { what, number, there };
    check(ScenarioEvent { day: 1.0, what }, None, number("host", 101, 100));
    let what = ScenarioAction::Rates { sources: Selection::List(vec![1000]), factor: 2.0 };
    check(ScenarioEvent { day: 1.0, what }, None, number("source", 1001, 1000));
    let ids: PackedStrings = ["a"].into_iter().collect();
    let lives = vec![TimeRange { start: 0.0, end: 4.0 * 86_400.0 }];
    let history = ChangeTrace::new(ids, lives, &[(0, 86_400.0)]);
    let recorded = || Some(Origin::Recorded(history.clone().into(), Distribution::Equal(1.0)));
    check(arrival(1), recorded(), InvalidScenarioEvent::Recorded);
    check(rates(1.0, 2.0), recorded(), InvalidScenarioEvent::Recorded);
}
