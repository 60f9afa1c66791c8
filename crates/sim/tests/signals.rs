//! Signals have the configured quality and do not affect the changes.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use freshet_model::{Budget, ChangeTrace, PerDay, TimeRange};
use freshet_sim::{
    Calendar, Distribution, Event, Experiment, Origin, Policy, Quality, Run, Signals, SimError,
    Synthetic, Web, WebKind, run,
};

const DAYS: f64 = 400.0;

const EVEN: Synthetic = Synthetic {
    sources: 60,
    rates: Distribution::LogNormal { median: 0.5, sigma: 0.8 },
    importance: Distribution::Equal(1.0),
    observed: 0.0,
    per_host: 10.0,
};

fn even(web: WebKind) -> Origin {
    Origin::Synthetic(EVEN, web)
}

/// Notes every signal, and fetches nothing.
#[derive(Default)]
struct Listener {
    heard: Vec<(f64, u32)>,
}

impl Policy for Listener {
    fn wake(&self) -> f64 {
        f64::INFINITY
    }

    fn hears(&self) -> bool {
        true
    }

    fn step(&mut self, now: f64, event: Event, _: &mut Vec<u32>) {
        if let Event::Signalled(source) = event {
            self.heard.push((now, source));
        }
    }
}

fn listen(origin: &Origin, signals: &Signals, days: f64) -> (Vec<(f64, u32)>, Run) {
    let web = Web::new(origin, &[], days, 5).unwrap().with_signals(signals, origin).unwrap();
    let mut ear = Listener::default();
    let done = run(&web, &mut ear, Calendar::new(days, 0.0, 2), None);
    assert!(ear.heard.windows(2).all(|two| two[0].0 <= two[1].0), "in order of time");
    (ear.heard, done)
}

fn signals(text: &str) -> Signals {
    text.parse().unwrap()
}

#[test]
fn recall_and_precision_are_as_set() {
    for web in [WebKind::Poisson, WebKind::Bursty, WebKind::Slots] {
        // Rates that are chances, as slots want them.
        let rates = Distribution::Uniform { low: 0.2, high: 0.8 };
        let origin = Origin::Synthetic(Synthetic { rates, ..EVEN }, web);
        for (recall, precision) in [(1.0, 1.0), (0.2, 1.0), (0.5, 0.5), (0.95, 0.05)] {
            let quality = Quality { recall, precision, delay: 0.0 };
            let (heard, done) = listen(&origin, &Signals::Drawn(quality), DAYS);
            let changes = done.ledger.measured().changes;
            let expect = changes * recall / precision;
            let share = heard.len() as f64 / expect;
            assert!((share - 1.0).abs() < 4.0 / expect.sqrt() + 0.02, "{web} {quality:?}: {share}");
            assert_eq!(done.events, changes as u64 + heard.len() as u64);
        }
    }
}

#[test]
fn the_signals_of_true_changes_are_those_changes() {
    let (all, done) = listen(&even(WebKind::Poisson), &signals("recall=1"), DAYS);
    assert_eq!(all.len() as f64, done.ledger.measured().changes);
    // Fewer or false ones change nothing about those that are there.
    let (some, _) = listen(&even(WebKind::Poisson), &signals("recall=0.4"), DAYS);
    assert!(some.iter().all(|it| all.contains(it)) && some.len() < all.len());
    let (more, _) = listen(&even(WebKind::Poisson), &signals("recall=0.4,precision=0.3"), DAYS);
    assert!(some.iter().all(|it| more.contains(it)) && some.len() < more.len());
}

#[test]
fn signals_are_as_late_as_set() {
    let (prompt, _) = listen(&even(WebKind::Poisson), &signals("recall=0.7"), DAYS);
    let (late, _) = listen(&even(WebKind::Poisson), &signals("recall=0.7,delay=6h"), DAYS);
    // A few are still on their way at the end.
    let lost = prompt.len() - late.len();
    assert!(lost < prompt.len() / 50, "{lost} of {}", prompt.len());
    let sum = |heard: &[(f64, u32)]| heard.iter().map(|(day, _)| DAYS - day).sum::<f64>();
    let delay = (sum(&prompt) - sum(&late)) / prompt.len() as f64;
    assert!((delay - 0.25).abs() < 0.02, "{delay}");
}

#[test]
fn a_liar_speaks_of_all_at_fixed_times() {
    let (heard, _) = listen(&even(WebKind::Poisson), &signals("liar:every=12h"), 10.0);
    // At noon of the first day, and last at noon of the tenth.
    assert_eq!(heard.len(), 60 * 19);
    assert!(heard.iter().all(|(day, _)| (2.0 * day).fract() == 0.0 && *day > 0.0));
}

#[test]
fn nothing_is_said_of_sources_whose_changes_are_announced() {
    let origin = Origin::Synthetic(Synthetic { observed: 0.5, ..EVEN }, WebKind::Poisson);
    let web = Web::new(&origin, &[], 20.0, 5).unwrap();
    let (heard, _) = listen(&origin, &signals("precision=0.2"), 20.0);
    assert!(!heard.is_empty());
    assert!(heard.iter().all(|&(_, source)| !web.population.complete[source as usize]));
}

/// Two pages from day 0 to day 10, one of which comes on day 4.
fn recorded(changes: &[(u32, f64)], names: [&str; 2]) -> ChangeTrace {
    let day = 86_400.0;
    let life = |birth: f64| TimeRange { start: birth * day, end: 10.0 * day };
    let changes: Vec<(u32, f64)> = changes.iter().map(|&(page, at)| (page, at * day)).collect();
    ChangeTrace::new(names.into_iter().collect(), vec![life(0.0), life(4.0)], &changes)
}

#[test]
fn recorded_signals_go_by_name_and_come_when_they_came() {
    let changes = recorded(&[(0, 3.0), (1, 6.0)], ["a", "b"]);
    // Another order, and a page that is not there.
    let said = recorded(&[(0, 2.0), (0, 6.0), (0, 6.0), (1, 3.0)], ["b", "a"]);
    let origin = Origin::Recorded(Arc::new(changes), Distribution::Equal(1.0));
    let (heard, _) = listen(&origin, &Signals::Recorded(Arc::new(said)), 10.0);
    // Signals about `b` before it appeared are ignored.
    assert_eq!(heard, [(3.0, 0), (6.0, 1), (6.0, 1)]);

    let strangers = Signals::Recorded(Arc::new(recorded(&[(0, 2.0)], ["x", "y"])));
    let refused = Web::new(&origin, &[], 10.0, 1).unwrap().with_signals(&strangers, &origin);
    assert_eq!(refused.err(), Some(SimError::UnknownSources { signals: 2, sources: 2 }));
    let made = even(WebKind::Poisson);
    let refused = Web::new(&made, &[], 10.0, 1).unwrap().with_signals(&strangers, &made);
    assert_eq!(refused.err(), Some(SimError::NoRecord));
}

fn experiment(policies: &[&str], signals: Option<Signals>) -> Experiment {
    let mut experiment = Experiment::new(even(WebKind::Poisson));
    experiment.policies = policies.iter().map(|name| name.parse().unwrap()).collect();
    experiment.budget = Budget::PerSource(PerDay::new(0.4).unwrap());
    experiment.days = Some(60.0);
    experiment.seeds = 2;
    experiment.signals = signals;
    experiment
}

#[test]
fn those_who_do_not_hear_do_what_they_always_do() {
    let deaf = ["engine:ignoring", "lambda:ignoring", "lambda-floor", "optimum", "nutch"];
    let with = experiment(&deaf, Some(signals("recall=0.9,precision=0.3"))).run(&|_| {}).unwrap();
    let without = experiment(&deaf, None).run(&|_| {}).unwrap();
    for (with, without) in with.policies.iter().zip(&without.policies) {
        assert_eq!(with.runs, without.runs, "{}", with.policy);
    }
    // Without signals, all variants are identical.
    let all = ["engine", "engine:ignoring", "engine:blind"];
    let quiet = experiment(&all, None).run(&|_| {}).unwrap();
    assert_eq!(quiet.policies[0].runs, quiet.policies[1].runs);
    assert_eq!(quiet.policies[0].runs, quiet.policies[2].runs);
}

#[test]
fn believing_everything_pays_if_all_is_true_and_not_if_little_is() {
    let cost = |signals: &str, policy: usize| {
        let all = ["engine:ignoring", "engine:blind", "lambda:ignoring", "lambda"];
        let report = experiment(&all, Some(signals.parse().unwrap())).run(&|_| {}).unwrap();
        let measured = &report.policies[policy].measured;
        let spent = measured.requests.mean / (report.budget * 30.0);
        assert!(spent < 1.05, "{}: {spent} of the budget", report.policies[policy].policy);
        measured.harmonic_cost.mean
    };
    let perfect = "recall=1,precision=1";
    assert!(cost(perfect, 1) < 0.7 * cost(perfect, 0));
    assert!(cost(perfect, 3) < 0.8 * cost(perfect, 2));
    let false_ones = "recall=0.2,precision=0.2";
    assert!(cost(false_ones, 1) > 1.1 * cost(false_ones, 0));
    // Who waits for signals misses what has none for long.
    let few = "recall=0.2";
    assert!(cost(few, 1) > 1.1 * cost(few, 0));
    assert!(cost(few, 3) > 1.1 * cost(few, 2));
}

#[test]
fn too_many_signals_are_refused() {
    let wrong = experiment(&["engine"], Some(signals("liar:every=1s")));
    let mut wrong = Experiment { days: Some(1e5), ..wrong };
    wrong.origin = Origin::Synthetic(Synthetic { sources: 10_000, ..EVEN }, WebKind::Poisson);
    let refused = wrong.run(&|_| {});
    assert!(matches!(refused, Err(SimError::TooMuch { signals, .. }) if signals > 8e13));
}
