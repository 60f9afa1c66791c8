//! The solver against itself and against the conditions of an optimum.

#![allow(clippy::unwrap_used)]

use freshet_model::PerDay;
use freshet_plan::{
    Evaluation, Objective, Observed, Options, Policy, Solution, Sources, Status, Timing, evaluate,
    solve,
};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// A small random table.
#[derive(Clone, Debug)]
struct Table {
    importance: Vec<f64>,
    change_rate: Vec<f64>,
    complete: Vec<bool>,
    cost: Vec<f64>,
    min_rate: Vec<f64>,
    max_rate: Vec<f64>,
    host: Vec<u32>,
    limits: Vec<f64>,
    with: With,
}

/// Which of the columns are used.
#[derive(Clone, Copy, Debug)]
struct With {
    complete: bool,
    cost: bool,
    limits: bool,
    hosts: bool,
}

impl Table {
    fn sources(&self) -> Sources<'_> {
        let mut sources = Sources::new(&self.importance, &self.change_rate).unwrap();
        if self.with.complete {
            sources = sources.with_complete(&self.complete).unwrap();
        }
        if self.with.cost {
            sources = sources.with_cost(&self.cost).unwrap();
        }
        if self.with.limits {
            sources = sources.with_limits(Some(&self.min_rate), Some(&self.max_rate)).unwrap();
        }
        if self.with.hosts {
            sources = sources.with_hosts(&self.host, &self.limits).unwrap();
        }
        sources
    }

    /// Every source many times over, and host limits in proportion.
    fn times(&self, times: usize) -> Self {
        fn repeat<T: Clone>(values: &[T], times: usize) -> Vec<T> {
            values.iter().cycle().take(values.len() * times).cloned().collect()
        }
        Self {
            importance: repeat(&self.importance, times),
            change_rate: repeat(&self.change_rate, times),
            complete: repeat(&self.complete, times),
            cost: repeat(&self.cost, times),
            min_rate: repeat(&self.min_rate, times),
            max_rate: repeat(&self.max_rate, times),
            host: repeat(&self.host, times),
            limits: self.limits.iter().map(|limit| limit * times as f64).collect(),
            with: self.with,
        }
    }

    fn spend(&self, rates: &[f64]) -> f64 {
        let cost = |i: usize| if self.with.cost { self.cost[i] } else { 1.0 };
        rates.iter().enumerate().map(|(i, rate)| cost(i) * rate).sum()
    }
}

/// Numbers over `orders` of magnitude on either side of 1, now and then zero or a repeated value.
fn number(orders: f64) -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => (-orders..orders).prop_map(|exponent| 10f64.powf(exponent)),
        1 => Just(0.0),
        1 => Just(1.0),
    ]
}

fn table(slots: bool) -> impl Strategy<Value = Table> {
    let with = any::<[bool; 4]>().prop_map(|[complete, cost, limits, hosts]| With {
        complete,
        cost,
        limits,
        hosts,
    });
    let orders = prop_oneof![Just(1.0), Just(3.0), Just(12.0)];
    (1..24_usize, orders, with).prop_flat_map(move |(n, orders, with)| {
        let source = (
            number(orders),
            if slots { (0.0..0.999).boxed() } else { number(orders).boxed() },
            any::<bool>(),
            0.1..10.0_f64,
            number(2.0),
            1.0..100.0_f64,
            0..4_u32,
        );
        prop::collection::vec(source, n..=n).prop_map(move |rows| {
            let mut table = Table {
                importance: rows.iter().map(|row| row.0).collect(),
                change_rate: rows.iter().map(|row| row.1).collect(),
                complete: rows.iter().map(|row| row.2).collect(),
                cost: rows.iter().map(|row| row.3).collect(),
                min_rate: rows.iter().map(|row| row.4 * 1e-3).collect(),
                max_rate: rows.iter().map(|row| row.4 * row.5 + 0.1).collect(),
                host: rows.iter().map(|row| row.6).collect(),
                limits: vec![f64::INFINITY; 4],
                with,
            };
            // Hosts 0 and 1 allow a little more than their least rates.
            for host in 0..2 {
                let least: f64 = (0..n)
                    .filter(|&i| with.limits && table.host[i] == host)
                    .map(|i| table.min_rate[i] * if with.cost { table.cost[i] } else { 1.0 })
                    .sum();
                table.limits[host as usize] = least + 0.3;
            }
            table
        })
    })
}

fn options() -> impl Strategy<Value = Options> {
    let pick = |all: usize| 0..all;
    (pick(3), pick(3), pick(2)).prop_map(|(objective, timing, observed)| Options {
        objective: Objective::ALL[objective],
        timing: Timing::ALL[timing],
        observed: Observed::ALL[observed],
        policy: Policy::Optimal,
    })
}

fn case() -> impl Strategy<Value = (Table, Options, f64)> {
    options().prop_flat_map(|options| {
        (table(options.timing == Timing::Slots), Just(options), -4.0..4.0_f64)
    })
}

fn plan(table: &Table, options: &Options, budget: f64) -> Solution {
    solve(&table.sources(), PerDay::new(budget).unwrap(), options).unwrap()
}

fn least(table: &Table) -> f64 {
    if table.with.limits { table.spend(&table.min_rate) } else { 0.0 }
}

fn measure(table: &Table, rates: &[f64], options: &Options) -> Evaluation {
    evaluate(&table.sources(), rates, options.timing, options.rule())
}

#[track_caller]
fn close(what: &str, got: f64, expect: f64, tolerance: f64) {
    let fine = got == expect || (got - expect).abs() <= tolerance * expect.abs().max(1e-300);
    assert!(fine, "{what}: {got:e}, expected {expect:e}, off by {:e}", (got / expect - 1.0).abs());
}

proptest! {
    // Fixed cases, so that a failure is caused by the change under test.
    #![proptest_config(ProptestConfig {
        cases: 1500,
        rng_seed: RngSeed::Fixed(20_030_415),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Small tables are solved source by source, large ones with the demand curve: two algorithms, one
    /// answer.
    #[test]
    fn many_copies_of_a_source_are_planned_like_one((table, options, budget) in case()) {
        let n = table.importance.len();
        let budget = 10f64.powf(budget) + least(&table) * 1.001;
        let one = plan(&table, &options, budget);
        let times = 700 / n + 1;
        let many = plan(&table.times(times), &options, budget * times as f64);
        prop_assert_eq!(one.status, many.status);
        let scale = budget / n as f64;
        for i in 0..n {
            for copy in [0, times / 2, times - 1] {
                let (got, expect) = (many.rates[copy * n + i], one.rates[i]);
                let near = (got - expect).abs() <= 2e-8 * expect + 1e-9 * scale;
                prop_assert!(near, "source {}: {:e}, alone {:e}", i, got, expect);
            }
        }
    }

    #[test]
    fn the_budget_is_met_and_the_gap_is_honest((table, options, budget) in case()) {
        let budget = 10f64.powf(budget) + least(&table) * 1.001;
        let plan = plan(&table, &options, budget);
        let spent = table.spend(&plan.rates);
        close("spent", plan.spent, spent, 1e-12);
        match plan.status {
            Status::Optimal => close("budget", spent, budget, 1e-9),
            Status::Unspent => prop_assert!(spent <= budget && plan.price == 0.0),
            status => prop_assert!(false, "{:?}, gap {:?}", status, plan.gap),
        }
        prop_assert!(plan.gap.worst() <= 1e-9, "{:?}", plan.gap);
    }

    /// Moving some of the budget from one source to another never helps.
    #[test]
    fn no_small_move_is_better((table, options, budget) in case(), from in 0..24_usize, to in 0..24_usize) {
        let n = table.importance.len();
        let (from, to) = (from % n, to % n);
        let budget = 10f64.powf(budget) + least(&table) * 1.001;
        let plan = plan(&table, &options, budget);
        let cost = |i: usize| if table.with.cost { table.cost[i] } else { 1.0 };
        let mut moved = plan.rates.clone();
        let amount = 1e-3 * moved[from];
        moved[from] -= amount;
        moved[to] += amount * cost(from) / cost(to);
        let allowed = |i: usize| {
            let within = !table.with.limits
                || (moved[i] >= table.min_rate[i] && moved[i] <= table.max_rate[i]);
            within && (options.timing != Timing::Slots || moved[i] <= 1.0)
        };
        let same_host = !table.with.hosts || table.host[from] == table.host[to];
        if from == to || !allowed(from) || !allowed(to) || !same_host {
            return Ok(());
        }
        let before = measure(&table, &plan.rates, &options).cost(options.objective);
        let after = measure(&table, &moved, &options).cost(options.objective);
        prop_assert!(after >= before * (1.0 - 1e-12), "{after:e} < {before:e}");
    }

    /// No other policy beats an objective's own plan. The others poll observed sources; a probability at each
    /// change is no match for polling at fixed intervals (docs/theory.md §6).
    #[test]
    fn no_other_policy_is_better((table, options, budget) in case(), floor in 0.0..1.0_f64) {
        if options.observed == Observed::Random && options.timing == Timing::Periodic {
            return Ok(());
        }
        let budget = 10f64.powf(budget) + least(&table) * 1.001;
        let best = plan(&table, &options, budget);
        let best = measure(&table, &best.rates, &options).cost(options.objective);
        let others =
            [Policy::Uniform, Policy::ChangeRate, Policy::Importance, Policy::Floor(floor)];
        for policy in others {
            let options = Options { policy, ..options };
            let plan = plan(&table, &options, budget);
            let polled = table.sources().without_observations();
            let cost = evaluate(&polled, &plan.rates, options.timing, options.rule())
                .cost(options.objective);
            prop_assert!(cost >= best * (1.0 - 1e-9), "{policy}: {cost:e} < {best:e}");
        }
    }

    #[test]
    fn the_same_plan_on_any_number_of_threads((table, options, budget) in case()) {
        let table = table.times(2000 / table.importance.len() + 1);
        let budget = (10f64.powf(budget) + least(&table)) * 1.001;
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| plan(&table, &options, budget))
        };
        let (one, three) = (on(1), on(3));
        prop_assert_eq!(one.rates, three.rates);
        prop_assert_eq!(one.price, three.price);
    }
}
