//! Policies do what is known of them.

#![allow(clippy::unwrap_used)]

use freshet_model::{Budget, PerDay};
use freshet_plan::Objective;
use freshet_sim::{
    Distribution, Experiment, Fault, FaultKind, Measured, Origin, PolicyKind, Report, Synthetic,
    WebKind,
};

fn experiment(synthetic: Synthetic, web: WebKind, each: f64) -> Experiment {
    let mut experiment = Experiment::new(Origin::Synthetic(synthetic, web));
    experiment.budget = Budget::PerSource(PerDay::new(each).unwrap());
    experiment.seeds = 3;
    experiment
}

fn report(experiment: &Experiment) -> Report {
    experiment.run(&|_| {}).unwrap()
}

fn of(report: &Report, name: &str) -> Measured {
    let found = report.policies.iter().find(|policy| policy.policy.to_string() == name);
    found.unwrap().measured
}

/// Changes a few times a week, so that no rule is at the ends of its range.
const ORDINARY: Synthetic = Synthetic {
    sources: 400,
    rates: Distribution::LogNormal { median: 0.3, sigma: 0.7 },
    importance: Distribution::Equal(1.0),
    observed: 0.0,
    per_host: 20.0,
};

#[test]
fn adaptive_rules_settle_at_a_chance_of_change_and_lose_to_equal_polling() {
    // Nutch: p ln 0.8 + (1 − p) ln 1.4 = 0 at p = 0.60, a little more as it waits for what has not
    // changed for long. StormCrawler: p ln 0.5 + (1 − p) ln 1.5 = 0 at p = 0.37. At such a chance
    // there are so many changes to a fetch: −ln(1 − p).
    let mean = 0.3 * f64::exp(0.5 * 0.7 * 0.7);
    for (name, chance, tolerance) in [("nutch", 0.60, 0.04), ("stormcrawler", 0.37, 0.02)] {
        let each = mean / -f64::ln(1.0 - chance);
        let mut experiment = experiment(ORDINARY, WebKind::Poisson, each);
        experiment.objective = Objective::Freshness.into();
        experiment.policies = vec![name.parse().unwrap(), "uniform".parse().unwrap()];
        experiment.days = Some(1000.0);
        let report = report(&experiment);
        let (rule, uniform) = (of(&report, name), of(&report, "uniform"));
        assert!((rule.found.mean - chance).abs() < tolerance, "{name}: {:?}", rule.found);
        assert!((rule.requests.mean / uniform.requests.mean - 1.0).abs() < 0.02, "{name}");
        // Cho & Garcia-Molina 2003, §5.2: in proportion to the change rate is never better than
        // equally often.
        assert!(
            rule.freshness.interval.unwrap().1 < uniform.freshness.interval.unwrap().0,
            "{name}"
        );
    }
}

#[test]
fn every_policy_keeps_to_the_budget_and_none_beats_the_bound() {
    for (web, each) in [(WebKind::Poisson, 0.2), (WebKind::Poisson, 2.0), (WebKind::Diurnal, 0.05)]
    {
        for &objective in Objective::ALL {
            let synthetic = Synthetic { sources: 300, observed: 0.0, ..Synthetic::KOLOBOV };
            let mut experiment = experiment(synthetic, web, each);
            experiment.objective = objective.into();
            experiment.days = Some(120.0);
            let report = report(&experiment);
            let budget = report.budget * 60.0;
            let bound = of(&report, "optimum").objective(objective);
            let sign = if objective == Objective::Freshness { -1.0 } else { 1.0 };
            for policy in &report.policies {
                let (name, measured) = (&policy.policy, &policy.measured);
                let spent = measured.requests.mean / budget;
                assert!((spent - 1.0).abs() < 0.03, "{name} on {web}: {spent} of the budget");
                let got = measured.objective(objective);
                let (low, high) = bound.interval.unwrap();
                let slack = 0.5 * (high - low) + 0.01 * bound.mean.abs();
                assert!(
                    sign * got.mean >= sign * bound.mean - slack,
                    "{name} {objective}: {got:?}"
                );
            }
        }
    }
}

#[test]
fn learning_comes_close_to_knowing() {
    // Kolobov et al. 2019, Fig. 3: LLC ends below LLCA and BLLCε.
    let mut experiment =
        experiment(Synthetic { sources: 2000, ..Synthetic::KOLOBOV }, WebKind::Poisson, 0.2);
    experiment.days = Some(120.0);
    experiment.policies = ["optimum:poisson", "lambda", "lambda-approx", "lambda-floor", "uniform"]
        .map(|name| name.parse().unwrap())
        .to_vec();
    let report = report(&experiment);
    let cost = |name: &str| of(&report, name).harmonic_cost.mean;
    assert!(cost("lambda") < cost("lambda-approx") && cost("lambda") < cost("lambda-floor"));
    assert!(cost("lambda-approx") < cost("uniform"));
    assert!(cost("optimum:poisson") < cost("lambda"));
}

#[test]
fn greedy_and_earliest_deadline_are_as_good_as_fixed_intervals() {
    // Azar et al. 2018, Fig. 1: its rates in order of deadlines reach 98.8 to 99.8 % of the optimum,
    // greedy by value 99.9 %.
    for importance in [Synthetic::AZAR.importance, Distribution::Uniform { low: 0.0, high: 1.0 }] {
        for each in [0.1, 0.5] {
            let synthetic = Synthetic { importance, ..Synthetic::AZAR };
            let mut experiment = experiment(synthetic, WebKind::Poisson, each);
            experiment.objective = Objective::Freshness.into();
            experiment.days = Some(400.0);
            experiment.policies =
                ["optimum", "optimum:edf", "optimum:poisson-edf", "optimum:golden", "greedy"]
                    .map(|name| name.parse().unwrap())
                    .to_vec();
            let report = report(&experiment);
            let share = |name: &str| {
                of(&report, name).freshness.mean / of(&report, "optimum").freshness.mean
            };
            assert!(share("greedy") > 0.999, "{}", share("greedy"));
            assert!(share("optimum:edf") > 0.999, "{}", share("optimum:edf"));
            let azar = share("optimum:poisson-edf");
            assert!(azar > 0.987 && azar < 0.999, "{azar}");
            assert!(share("optimum:golden") > 0.97, "{}", share("optimum:golden"));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_report_on_any_number_of_threads() {
    let synthetic = Synthetic { sources: 150, ..Synthetic::KOLOBOV };
    let faults = ["timeout:0.3", "slow:0.2", "gone:0.1"].map(|text| text.parse().unwrap());
    for &web in WebKind::ALL {
        let synthetic = if web == WebKind::Slots {
            Synthetic { rates: Distribution::Uniform { low: 0.0, high: 0.9 }, ..synthetic }
        } else {
            synthetic
        };
        let mut experiment = experiment(synthetic, web, 0.3);
        experiment.faults = faults.to_vec();
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| report(&experiment))
        };
        let (one, three) = (on(1), on(3));
        // As text: the delay of changes that nobody captured is not a number.
        assert_eq!(format!("{one:?}"), format!("{three:?}"), "{web}");
        // All but `wic`, which only captures.
        assert_eq!(one.policies.len(), PolicyKind::ALL.len() - 1);
    }
}

#[test]
fn faults_cost_freshness_and_no_source_is_forgotten() {
    let synthetic = Synthetic { sources: 300, per_host: 3.0, ..ORDINARY };
    let run = |faults: Vec<Fault>| {
        let mut experiment = experiment(synthetic, WebKind::Poisson, 0.5);
        experiment.faults = faults;
        experiment.days = Some(200.0);
        report(&experiment)
    };
    let well = run(Vec::new());
    let ill = run(vec![Fault { kind: FaultKind::Timeout, share: 1.0 }]);
    let slow = run(vec![Fault { kind: FaultKind::Slow, share: 1.0 }]);
    for kind in well.policies.iter().map(|it| it.policy.kind) {
        let freshness = |report: &Report| of(report, kind.name()).freshness.mean;
        // One day in fifteen without an answer: some freshness is lost, not most of it.
        let lost = freshness(&well) - freshness(&ill);
        assert!(lost > 0.0 && lost < 0.12, "{}: {lost}", kind.name());
        assert!((freshness(&well) - freshness(&slow)).abs() < 0.02, "{}", kind.name());
    }
}
