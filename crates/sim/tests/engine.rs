//! The engine against the planner, without the noise of a simulation: from the times of its fetches
//! the expected cost follows in closed form.

#![allow(clippy::unwrap_used)]

use freshet_engine::{Action, Engine, EngineSettings, Event, FetchResult, Goal, SourceDescription};
use freshet_estimate::{Belief, Penalty};
use freshet_model::PerDay;
use freshet_plan::{Objective, Options, Sources, solve};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

struct Web {
    importance: Vec<f64>,
    rates: Vec<f64>,
}

impl Web {
    /// Log-uniform importances and rates, three orders of magnitude each.
    fn new(sources: usize) -> Self {
        let mut random = Pcg64::seed_from_u64(7);
        let mut draw = |middle: f64| middle * (6.9 * (random.random::<f64>() - 0.5)).exp();
        let importance = (0..sources).map(|_| draw(1.0)).collect();
        Self { importance, rates: (0..sources).map(|_| draw(0.2)).collect() }
    }
}

/// `∫₀^τ k(t) dt` at a change rate.
fn cost(objective: Objective, c: f64, days: f64) -> f64 {
    let x = c * days;
    let missed = x + (-x).exp_m1();
    match objective {
        Objective::Freshness => missed / c,
        Objective::Harmonic => (x * entire_integral(x) - missed) / c,
        Objective::Age => (0.5 * x * x - missed) / c / c,
    }
}

/// `Ein(x) = ∫₀^x (1 − e^(−t))/t dt`, by Simpson's rule in the logarithm.
fn entire_integral(x: f64) -> f64 {
    if x < 1e-6 {
        return x;
    }
    let (low, steps) = ((1e-7_f64).ln(), 400);
    let width = (x.ln() - low) / f64::from(steps);
    let at = |k: u32| -(-(low + f64::from(k) * width).exp()).exp_m1();
    let sum: f64 = (0..=steps)
        .map(|k| {
            at(k)
                * if k == 0 || k == steps {
                    1.0
                } else if k % 2 == 1 {
                    4.0
                } else {
                    2.0
                }
        })
        .sum();
    1e-7 + sum * width / 3.0
}

fn penalty(objective: Objective) -> Penalty {
    match objective {
        Objective::Freshness => Penalty::Freshness,
        Objective::Harmonic => Penalty::Harmonic,
        Objective::Age => Penalty::Age,
    }
}

/// What the engine's copies cost a day, on average from one day to another. `many`: from so many
/// sources on it goes in turn.
fn attained(
    web: &Web,
    objective: Objective,
    budget: f64,
    many: usize,
    (from, to): (f64, f64),
) -> f64 {
    let settings = EngineSettings {
        budget,
        goal: Goal::KeepFresh(penalty(objective)),
        host_gap: 0.0,
        host_connections: u32::MAX,
        large_set_threshold: many,
        ..EngineSettings::default()
    };
    let mut engine = Engine::new(0.0, settings);
    let mut actions = Vec::new();
    engine.step(0.0, Event::CapacityAdded(u32::MAX), &mut actions);
    let describe = |id: usize| SourceDescription {
        importance: web.importance[id],
        host: id as u32 % 50,
        last_fetch: Some(0.0),
        belief: Some(Belief::new(1e9, 1e9 / web.rates[id]).unwrap()),
        ..SourceDescription::new(id as u32)
    };
    engine.step(
        0.0,
        Event::SourcesDescribed((0..web.rates.len()).map(describe).collect()),
        &mut actions,
    );
    let mut last = vec![0.0; web.rates.len()];
    let mut total = 0.0;
    let mut fetches = 0;
    let piece = |id: usize, start: f64, end: f64| {
        let part =
            |day: f64| cost(objective, web.rates[id], (day.clamp(from, to) - start).max(0.0));
        web.importance[id] * (part(end) - part(start))
    };
    while engine.next_tick() < to {
        let now = engine.next_tick();
        engine.step(now, Event::Tick, &mut actions);
        while let Some(action) = actions.pop() {
            if let Action::Fetch { id, .. } = action {
                total += piece(id as usize, last[id as usize], now);
                last[id as usize] = now;
                fetches += u32::from(now >= from);
                engine.step(
                    now,
                    Event::FetchFinished { id, outcome: FetchResult::Unchanged },
                    &mut actions,
                );
            }
        }
    }
    total += (0..last.len()).map(|id| piece(id, last[id], to)).sum::<f64>();
    let spent = f64::from(fetches) / (to - from);
    assert!((spent / budget - 1.0).abs() < 1e-3, "spends {spent} of {budget}");
    total / (to - from)
}

/// What the planner's rates cost a day.
fn planned(web: &Web, objective: Objective, budget: f64) -> f64 {
    let sources = Sources::new(&web.importance, &web.rates).unwrap();
    let options = Options { objective, ..Options::default() };
    let plan = solve(&sources, PerDay::new(budget).unwrap(), &options).unwrap();
    let each = |(id, &rate): (usize, &f64)| {
        let (c, w) = (web.rates[id], web.importance[id]);
        // A source that is given up is stale for ever.
        if rate > 0.0 { w * rate * cost(objective, c, 1.0 / rate) } else { w }
    };
    plan.rates.iter().enumerate().map(each).sum()
}

#[test]
fn known_rates_cost_little_more_in_turn() {
    let web = Web::new(20_000);
    for objective in [Objective::Harmonic, Objective::Freshness, Objective::Age] {
        let budget = 4000.0;
        let attained = attained(&web, objective, budget, 0, (60.0, 90.0));
        let ratio = attained / planned(&web, objective, budget);
        assert!((ratio - 1.0).abs() < 5e-3, "{objective:?}: {ratio}");
    }
}

#[test]
fn known_rates_cost_what_the_planner_promises() {
    let web = Web::new(2000);
    for objective in [Objective::Harmonic, Objective::Freshness, Objective::Age] {
        for budget in [100.0, 600.0] {
            let attained = attained(&web, objective, budget, usize::MAX, (600.0, 900.0));
            let ratio = attained / planned(&web, objective, budget);
            assert!((ratio - 1.0).abs() < 1e-3, "{objective:?} at {budget}: {ratio}");
        }
    }
}
