//! Value averaged over the belief against value at its mean.

use freshet_chart::{Axis, Figure, Panel};
use freshet_estimate::{Belief, Penalty, Prior};
use rand::RngExt;
use rand_distr::{Distribution as _, StandardNormal};
use rayon::prelude::*;

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::random::random;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "ours-belief",
    paper: Paper::Ours,
    item: "beliefs, not means",
    section: "against plugging in estimates",
    about: "learning while fetching: the value of a fetch averaged over the belief about the change \
            rate, against the value at its mean, at an equal budget",
    run,
};

const SOURCES: usize = 200;
const DAYS: usize = 240;
const BUDGETS: [f64; 4] = [0.02, 0.05, 0.1, 0.2];
const SEEDS: u64 = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scoring {
    Averaged,
    AtMean,
    Equal,
}

const SCORINGS: [(Scoring, &str); 3] = [
    (Scoring::Averaged, "averaged over the belief"),
    (Scoring::AtMean, "at the mean of the belief"),
    (Scoring::Equal, "equal polling"),
];

/// The mean cost in the second half, and the share of sources not fetched in it.
#[derive(Clone, Copy)]
struct Played {
    cost: f64,
    starved: f64,
}

/// Fetches the source with the highest value, one by one, and learns from the outcome.
fn play(
    penalty: Penalty,
    scoring: Scoring,
    each: f64,
    prior: Prior,
    seed: u64,
) -> Result<Played, LabError> {
    let mut random = random(seed);
    let mut normal = || -> f64 { StandardNormal.sample(&mut random) };
    let changes: Vec<f64> = (0..SOURCES).map(|_| 0.2 * (1.5 * normal()).exp()).collect();
    let mut beliefs = vec![prior.belief(); SOURCES];
    let mut last: Vec<f64> = (0..SOURCES).map(|_| -random.random::<f64>() / each).collect();
    let slots = (DAYS as f64 * each * SOURCES as f64) as usize;
    let width = 1.0 / (each * SOURCES as f64);
    let mut cost = 0.0;
    for slot in 1..=slots {
        let now = slot as f64 * width;
        let value = |i: usize| {
            let days = now - last[i];
            match scoring {
                Scoring::Averaged => penalty.fetch_value(beliefs[i], days),
                Scoring::AtMean => penalty.fetch_value(sure(beliefs[i].mean()), days),
                Scoring::Equal => days,
            }
        };
        let best = (0..SOURCES).map(|i| (value(i), i)).max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, source)) = best else { continue };
        let (days, change) = (now - last[source], changes[source]);
        cost += second_half(penalty, change, last[source], now);
        last[source] = now;
        let belief = beliefs[source];
        beliefs[source] = if random.random::<f64>() < -(-change * days).exp_m1() {
            belief.observe_change(days)
        } else {
            belief.observe_no_change(days)
        };
    }
    for (&from, &change) in last.iter().zip(&changes) {
        cost += second_half(penalty, change, from, DAYS as f64);
    }
    let starved = last.iter().filter(|&&time| time < HALF).count();
    let all = SOURCES as f64;
    Ok(Played { cost: cost / (all * (DAYS as f64 - HALF)), starved: starved as f64 / all })
}

/// As good as certain of a rate.
fn sure(rate: f64) -> Belief {
    Belief::new(1e9, 1e9 / rate).unwrap_or(Prior::BROAD.belief())
}

const HALF: f64 = DAYS as f64 / 2.0;

/// Returns the expected cost of a copy from one fetch to the next, as far as that is in the second half.
fn second_half(penalty: Penalty, change: f64, from: f64, to: f64) -> f64 {
    let known = sure(change);
    // ∫₀ᵗ k = t k(t) − v(t).
    let up_to = |days: f64| {
        if days <= 0.0 {
            0.0
        } else {
            days * penalty.expected_penalty(known, days) - penalty.fetch_value(known, days)
        }
    };
    if to > HALF { up_to(to - from) - up_to(HALF - from) } else { 0.0 }
}

/// Means over the seeds, for each scoring.
fn played(penalty: Penalty, each: f64, prior: Prior) -> Result<[Played; 3], LabError> {
    let mut all = [Played { cost: 0.0, starved: 0.0 }; 3];
    for (mean, (scoring, _)) in all.iter_mut().zip(SCORINGS) {
        for seed in 1..=SEEDS {
            let own = play(penalty, scoring, each, prior, seed)?;
            mean.cost += own.cost / SEEDS as f64;
            mean.starved += own.starved / SEEDS as f64;
        }
    }
    Ok(all)
}

fn run() -> Result<Outcome, LabError> {
    let prior = Prior::new(1.0, 1.0)?;
    let freshness: Vec<[Played; 3]> = BUDGETS
        .par_iter()
        .map(|&each| played(Penalty::Freshness, each, prior))
        .collect::<Result<_, LabError>>()?;
    let harmonic: Vec<[Played; 3]> = BUDGETS
        .par_iter()
        .map(|&each| played(Penalty::Harmonic, each, prior))
        .collect::<Result<_, LabError>>()?;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let mut table = Table::new(
        "Share of time stale in the second half of 240 days; scored by freshness",
        "fetches a day and source",
        &["averaged", "at the mean", "equal polling"],
    );
    for (each, [averaged, at_mean, equal]) in BUDGETS.iter().zip(&freshness) {
        // Where nothing is starved, the two differ only by chance.
        let close = 1.005;
        table.push(
            &each.to_string(),
            [
                Some(Comparison::shape(
                    "least",
                    averaged.cost,
                    0.0..=close * at_mean.cost.min(equal.cost),
                )),
                Some(
                    Comparison::shape("not less", at_mean.cost, averaged.cost / close..=1.0).note(
                        &format!(
                            "not fetched in 120 days: {}; averaged {}",
                            percent(at_mean.starved),
                            percent(averaged.starved)
                        ),
                    ),
                ),
                Some(Comparison::shape("not less", equal.cost, averaged.cost / close..=1.0)),
            ],
        );
    }
    let small = freshness[1];
    let broad = played(Penalty::Freshness, BUDGETS[1], Prior::BROAD)?;
    let claims = Table::list("What follows")
        .with(
            "0.05 fetches a day, freshness: at the mean and equal polling",
            Comparison::property(
                "plugging in the mean is worse than not learning at all",
                &format!("{:.4} and {:.4} stale", small[1].cost, small[2].cost),
                small[1].cost > small[2].cost,
            ),
        )
        .with(
            "the same with our own prior, Gamma(0.5, 3.5 days): at the mean over averaged",
            Comparison::shape(
                "less is lost if new sources are not believed to be fast",
                broad[1].cost / broad[0].cost,
                0.99..=small[1].cost / small[0].cost,
            ),
        )
        .with(
            "harmonic cost at all budgets: at the mean over averaged",
            Comparison::property(
                "no source is given up, and the two are within 1 %",
                &harmonic
                    .iter()
                    .map(|all| format!("{:.4}", all[1].cost / all[0].cost))
                    .collect::<Vec<_>>()
                    .join(", "),
                harmonic.iter().all(|all| (all[1].cost / all[0].cost - 1.0).abs() < 0.01),
            ),
        );
    Ok(Outcome::new([table, claims]).picture(picture(&freshness, &harmonic)).note(
        "Change rates are log-normal (median 0.2 a day, σ = 1.5), and sources are first believed to \
         change once a day, as in Kolobov's Algorithm 4: Gamma(1, 1 day). Every fetch goes to the \
         source that is worth most at that moment; three webs of 200 sources. A source that is \
         believed to change too fast is given up at the mean, and nothing more is learnt of it; \
         averaged, the chance that it is slow keeps it in.",
    ))
}

fn picture(freshness: &[[Played; 3]], harmonic: &[[Played; 3]]) -> Picture {
    let mut figure = Figure::new("Averaging over the belief against plugging in its mean")
        .subtitle("sources that have to be learned, at an equal budget")
        .columns(2)
        .plot_height(250)
        .width(980);
    let mut curves = Vec::new();
    for (title, label, all) in [
        ("scored by freshness", "stale, share of time", freshness),
        ("scored by harmonic cost", "harmonic cost", harmonic),
    ] {
        let mut panel = Panel::new()
            .title(title)
            .x(Axis::log("budget", "fetches a day and source"))
            .y(Axis::linear(label, "").from_zero());
        for (at, (_, name)) in SCORINGS.iter().enumerate() {
            let costs = all.iter().map(|played| played[at].cost).collect();
            let curve = Curve::new(title, name, BUDGETS.to_vec(), costs);
            panel = panel.series(curve.line_points());
            curves.push(curve);
        }
        figure = figure.panel(panel);
    }
    Picture::new(&figure, curves)
}
