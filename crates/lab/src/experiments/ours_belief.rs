//! Averaging over the belief against plugging in its mean.

use freshet_chart::{Axis, Figure, Panel};
use freshet_estimate::{Belief, Penalty, Prior};
use rand::RngExt;
use rand_distr::{Distribution as _, Gamma};

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

const SOURCES: usize = 400;
const DAYS: usize = 240;
/// Fetches a day for each source.
const EACH: f64 = 0.2;
const PERIOD: usize = 20;

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

/// Freshness and harmonic cost in each period, and the share of sources not fetched in the second
/// half.
struct Played {
    measure: Vec<f64>,
    starved: f64,
}

/// Fetches go one by one to the source that is worth most now; what they find is learnt.
fn play(penalty: Penalty, scoring: Scoring, seed: u64) -> Result<Played, LabError> {
    let mut random = random(seed);
    let prior = Prior::new(0.5, 2.5)?;
    let gamma: Gamma<f64> =
        Gamma::new(0.5, 1.0 / 2.5).map_err(|_| freshet_estimate::InvalidBelief::Shape(0.5))?;
    let changes: Vec<f64> = (0..SOURCES).map(|_| gamma.sample(&mut random).max(1e-4)).collect();
    let mut beliefs = vec![prior.belief(); SOURCES];
    let mut last: Vec<f64> = (0..SOURCES).map(|_| -random.random::<f64>() / EACH).collect();
    let slots = (DAYS as f64 * EACH * SOURCES as f64) as usize;
    let width = 1.0 / (EACH * SOURCES as f64);
    let mut sums = vec![0.0; DAYS / PERIOD];
    for slot in 1..=slots {
        let now = slot as f64 * width;
        let value = |i: usize| {
            let days = now - last[i];
            match scoring {
                Scoring::Averaged => penalty.value(beliefs[i], days),
                Scoring::AtMean => penalty.value(sure(beliefs[i].mean()), days),
                Scoring::Equal => days,
            }
        };
        let best = (0..SOURCES).map(|i| (value(i), i)).max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, source)) = best else { continue };
        let (days, change) = (now - last[source], changes[source]);
        add(&mut sums, penalty, change, last[source], now);
        last[source] = now;
        let belief = beliefs[source];
        beliefs[source] = if random.random::<f64>() < -(-change * days).exp_m1() {
            belief.changed(days)
        } else {
            belief.unchanged(days)
        };
    }
    for (&from, &change) in last.iter().zip(&changes) {
        add(&mut sums, penalty, change, from, DAYS as f64);
    }
    let starved = last.iter().filter(|&&time| time < 0.5 * DAYS as f64).count();
    let all = (SOURCES * PERIOD) as f64;
    Ok(Played {
        measure: sums.into_iter().map(|sum| sum / all).collect(),
        starved: starved as f64 / SOURCES as f64,
    })
}

/// As good as certain of a rate.
fn sure(rate: f64) -> Belief {
    Belief::new(1e9, 1e9 / rate).unwrap_or(Prior::BROAD.belief())
}

/// Adds the expected cost of a copy from one fetch to the next to the periods that it falls into.
fn add(sums: &mut [f64], penalty: Penalty, change: f64, from: f64, to: f64) {
    let known = sure(change);
    // ∫₀ᵗ k = t k(t) − v(t).
    let up_to = |days: f64| {
        if days <= 0.0 {
            0.0
        } else {
            days * penalty.expected(known, days) - penalty.value(known, days)
        }
    };
    let first = (from.max(0.0) / PERIOD as f64) as usize;
    let last = ((to / PERIOD as f64) as usize).min(sums.len() - 1);
    for (at, sum) in sums.iter_mut().enumerate().take(last + 1).skip(first) {
        let begin = ((at * PERIOD) as f64).max(from);
        let end = (((at + 1) * PERIOD) as f64).min(to);
        if end > begin {
            *sum += up_to(end - from) - up_to(begin - from);
        }
    }
}

fn run() -> Result<Outcome, LabError> {
    let mut table = Table::new(
        "The last 80 of 240 days, mean of 5 webs",
        "objective",
        &["averaged", "at the mean", "equal polling", "never fetched in 120 days"],
    );
    let mut figure = Figure::new("Averaging over the belief against plugging in its mean")
        .subtitle("400 made-up sources that have to be learnt, 0.2 fetches a day each")
        .columns(2)
        .plot_height(250)
        .width(980);
    let mut curves = Vec::new();
    let periods = DAYS / PERIOD;
    for (penalty, name, label) in [
        (Penalty::Freshness, "freshness", "stale, share of time"),
        (Penalty::Harmonic, "harmonic cost", "harmonic cost"),
    ] {
        let mut means = Vec::new();
        let mut starved = Vec::new();
        let mut panel = Panel::new()
            .title(&format!("scored by {name}"))
            .x(Axis::linear("day", ""))
            .y(Axis::linear(label, "").from_zero());
        for (scoring, title) in SCORINGS {
            let mut sums = vec![0.0; periods];
            let mut given_up = 0.0;
            for seed in 1..=5 {
                let played = play(penalty, scoring, seed)?;
                sums.iter_mut().zip(&played.measure).for_each(|(sum, own)| *sum += own / 5.0);
                given_up += played.starved / 5.0;
            }
            means.push(sums[periods - 4..].iter().sum::<f64>() / 4.0);
            starved.push(given_up);
            let x = (0..periods).map(|at| (at as f64 + 0.5) * PERIOD as f64).collect();
            let curve = Curve::new(name, title, x, sums);
            panel = panel.series(curve.line_points());
            curves.push(curve);
        }
        figure = figure.panel(panel);
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        table.push(
            label,
            [
                Some(Comparison::shape("least", means[0], 0.0..=means[1].min(means[2]))),
                Some(Comparison::shape("more", means[1], means[0]..=f64::INFINITY)),
                Some(Comparison::shape("more than averaged", means[2], means[0]..=f64::INFINITY)),
                Some(Comparison::property(
                    "more at the mean",
                    &format!("{} and {}", percent(starved[0]), percent(starved[1])),
                    starved[0] <= starved[1],
                )),
            ],
        );
    }
    Ok(Outcome::new([table]).picture(Picture::new(&figure, curves)).note(
        "Change rates are drawn from a gamma distribution of shape 0.5 and mean 0.2 a day, which is \
         also the prior. Every fetch goes to the source that is worth most at that moment.",
    ))
}
