//! Azar's rates against the optimum.

use freshet_chart::{Axis, Figure, Panel, Series};
use freshet_plan::{Objective, Policy, Timing};
use freshet_schedule::{EarliestDeadline, FetchValue, Greedy, Rates};
use freshet_sim::{Distribution, Origin, Synthetic, Web, WebKind};
use rayon::prelude::*;

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::index::Index;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::planned::{best, measured, rule};
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "azar-fig-1",
    paper: Paper::Azar,
    item: "Figure 1",
    section: "introduction",
    about: "the share of the optimal freshness that policies reach for 1,000 pages, by utilities and \
            bandwidth",
    run,
};

const WARM_UP: usize = 20_000;
const SLOTS: usize = 100_000;
const BANDWIDTHS: [f64; 4] = [10.0, 100.0, 500.0, 1000.0];
const POLICIES: [&str; 7] = [
    "equal rates",
    "∝ utility",
    "Cho, blind to utility",
    "Azar, at random",
    "Azar, by deadlines",
    "best, by deadlines",
    "greedy by value",
];

/// Utilities, and changes per slot.
struct Pages {
    weights: Vec<f64>,
    changes: Vec<f64>,
}

impl Pages {
    fn new(importance: Distribution, bandwidth: f64) -> Result<Self, LabError> {
        let synthetic = Synthetic { importance, ..Synthetic::AZAR };
        let web = Web::new(&Origin::Synthetic(synthetic, WebKind::Poisson), &[], 1.0, 2018)?;
        let changes = web.population.change_rate.iter().map(|rate| rate / bandwidth).collect();
        Ok(Self { weights: web.population.importance, changes })
    }

    /// Returns the weighted freshness of a sequence of slots, after the warm-up, in expectation over the
    /// changes.
    fn freshness(&self, sequence: impl Iterator<Item = Option<usize>>) -> f64 {
        let mut last = vec![0.0; self.weights.len()];
        let mut sum = 0.0;
        let mut add = |page: usize, from: f64, to: f64| {
            let (w, c) = (self.weights[page], self.changes[page]);
            let begin = from.max(WARM_UP as f64);
            if to > begin {
                sum += w / c * ((c * (from - begin)).exp() - (c * (from - to)).exp());
            }
        };
        for (decision, slot) in sequence.take(SLOTS).zip(1..) {
            if let Some(page) = decision {
                add(page, last[page], f64::from(slot));
                last[page] = f64::from(slot);
            }
        }
        for (page, &from) in last.iter().enumerate() {
            add(page, from, SLOTS as f64);
        }
        sum / (SLOTS - WARM_UP) as f64 / self.weights.iter().sum::<f64>()
    }

    /// Share of the optimum that each policy reaches.
    fn shares(&self) -> Result<[f64; 7], LabError> {
        let Self { weights, changes } = self;
        let fixed = best(weights, changes, 1.0, Objective::Freshness, Timing::Periodic)?.rates;
        let azar = best(weights, changes, 1.0, Objective::Freshness, Timing::Poisson)?.rates;
        let even = vec![1.0; weights.len()];
        let cho = best(&even, changes, 1.0, Objective::Freshness, Timing::Periodic)?.rates;
        let of = |rates: &[f64], timing: Timing| -> Result<f64, LabError> {
            Ok(measured(weights, changes, rates, timing)?.freshness())
        };
        let by_deadlines = |rates: &[f64]| -> Result<f64, LabError> {
            Ok(self.freshness(EarliestDeadline::new(Rates::new(rates)?)))
        };
        let all = [
            of(&rule(weights, changes, 1.0, Policy::Uniform)?, Timing::Periodic)?,
            of(&rule(weights, changes, 1.0, Policy::Importance)?, Timing::Periodic)?,
            of(&cho, Timing::Periodic)?,
            of(&azar, Timing::Poisson)?,
            by_deadlines(&azar)?,
            by_deadlines(&fixed)?,
            self.freshness(Greedy::new(self, vec![0.0; weights.len()])),
        ];
        let optimum = of(&fixed, Timing::Periodic)?;
        Ok(all.map(|freshness| freshness / optimum))
    }
}

impl FetchValue for &Pages {
    fn value(&self, source: usize, elapsed: f64) -> f64 {
        let (w, c) = (self.weights[source], self.changes[source]);
        w / c * Index::Freshness.value(c * elapsed)
    }

    fn time_to_reach(&self, source: usize, level: f64) -> f64 {
        let (w, c) = (self.weights[source], self.changes[source]);
        Index::Freshness.inverse(level * c / w) / c
    }
}

fn run() -> Result<Outcome, LabError> {
    let utilities = [
        ("Zipf utilities", Synthetic::AZAR.importance),
        ("uniform utilities", Distribution::Uniform { low: 0.0, high: 1.0 }),
    ];
    let cases: Vec<(usize, f64)> =
        (0..2).flat_map(|kind| BANDWIDTHS.map(|bandwidth| (kind, bandwidth))).collect();
    let shares: Vec<[f64; 7]> = cases
        .par_iter()
        .map(|&(kind, bandwidth)| Pages::new(utilities[kind].1, bandwidth)?.shares())
        .collect::<Result<_, LabError>>()?;

    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let mut table = Table::new(
        "Share of the freshness at the best fixed intervals",
        "utilities, fetches per unit of time",
        &["Azar’s rates by deadlines", "the same at random", "above the other policies"],
    );
    let mut ours = Table::new(
        "The same, beyond the paper",
        "utilities, fetches per unit of time",
        &["best rates by deadlines", "greedy by value"],
    )
    .of_theory();
    for (&(kind, bandwidth), all) in cases.iter().zip(&shares) {
        let label = format!("{}, R = {bandwidth}", utilities[kind].0);
        let others = all[0].max(all[1]).max(all[2]);
        table.push(
            &label,
            [
                Some(Comparison::shape("99 %", all[4], 0.985..=0.9999).found_as(&percent(all[4]))),
                Some(Comparison::shape("less", all[3], 0.8..=all[4]).found_as(&percent(all[3]))),
                Some(
                    Comparison::shape("yes", all[4] - others, 0.0..=1.0)
                        .found_as(&format!("best other {}", percent(others))),
                ),
            ],
        );
        let cell = |share: f64| {
            Some(Comparison::shape("99.6 % or more", share, 0.996..=1.0).found_as(&percent(share)))
        };
        ours.push(&label, [cell(all[5]), cell(all[6])]);
    }
    let mut figure = Figure::new("What policies reach of the optimal freshness")
        .subtitle("1,000 pages with change rates between 0 and 1; R fetches per unit of time")
        .columns(2)
        .plot_height(240)
        .width(1100);
    let mut curves = Vec::new();
    for (kind, (title, _)) in utilities.iter().enumerate() {
        let mut panel = Panel::new()
            .title(title)
            .x(Axis::linear("share of the optimum", "%").range(0.0, 103.0))
            .y(Axis::categories("", &POLICIES));
        for (at, &bandwidth) in BANDWIDTHS.iter().enumerate() {
            let x = shares[kind * BANDWIDTHS.len() + at].map(|share| 100.0 * share).to_vec();
            let y: Vec<f64> = (0..POLICIES.len()).map(|place| place as f64).collect();
            let name = format!("R = {bandwidth}");
            panel = panel.series(Series::points(&name, &x, &y));
            curves.push(Curve::new(title, &name, x, y));
        }
        figure = figure.panel(panel);
    }
    Ok(Outcome::new([table, ours]).picture(Picture::new(&figure, curves)).note(
        "The paper does not state R; four are tried, on one draw of its data. The optimum is that of \
         fixed intervals of any length; sequences make one fetch per slot of 1/R, over 100,000 slots. \
         With R = 10 the best pages are due every few slots, and whole slots cost what intervals \
         of any length would not. In the CSV of the picture, y counts the policies from the top.",
    ))
}
