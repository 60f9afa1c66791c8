//! Waiting for the k-th observed change against fetching at random.

use freshet_chart::{Axis, Figure, Panel};
use freshet_model::PerDay;
use freshet_plan::{Objective, Observed, Options, Sources, Timing, evaluate, solve};
use freshet_sim::Synthetic;
use rand::RngExt;

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::kolobov_web::Pages;
use crate::grid::logarithmic;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::random::random;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "ours-kth-change",
    paper: Paper::Ours,
    item: "the k-th change",
    section: "against Kolobov, §4.2",
    about: "sources whose changes are all announced: fetching at the k-th pending change instead of \
            at each with a chance, at an equal budget",
    run,
};

const SOURCES: usize = 20_000;
const CHANGES: u64 = 400_000;

/// H(k) − 1: the mean harmonic number of pending changes.
fn waiting(k: u32) -> f64 {
    (2..=k).map(|n| 1.0 / f64::from(n)).sum()
}

/// Simulates a rule on random changes.
fn played(mut fetch: impl FnMut(u32) -> bool) -> f64 {
    let (mut pending, mut harmonic, mut sum) = (0_u32, 0.0, 0.0);
    for _ in 0..CHANGES {
        pending += 1;
        harmonic += 1.0 / f64::from(pending);
        if fetch(pending) {
            (pending, harmonic) = (0, 0.0);
        }
        // Until the next change, which takes one unit of time on average.
        sum += harmonic;
    }
    sum / CHANGES as f64
}

/// Returns the harmonic cost per importance, by either rule.
fn cost(pages: &Pages, each: f64, observed: Observed) -> Result<f64, LabError> {
    let complete = vec![true; pages.len()];
    let sources = Sources::new(&pages.weights, &pages.changes)?.with_complete(&complete)?;
    let options = Options { observed, timing: Timing::Poisson, ..Options::default() };
    let plan = solve(&sources, PerDay::new(each * pages.len() as f64)?, &options)?;
    let all = evaluate(&sources, &plan.rates, options.timing, options.rule());
    Ok(all.cost(Objective::Harmonic) / all.weight())
}

fn run() -> Result<Outcome, LabError> {
    let mut one = Table::new(
        "One source, fetched once for k changes: mean harmonic number of pending changes",
        "",
        &["k-th change", "as played", "each with chance 1/k", "as played "],
    );
    for k in [2_u32, 3, 5, 10] {
        let mut generator = random(u64::from(k));
        let chance = 1.0 / f64::from(k);
        let (exact, drawn) = (waiting(k), f64::from(k).ln());
        let near = |exact: f64, own: f64| {
            Comparison::shape(&format!("{exact:.4}"), own, (0.98 * exact)..=(1.02 * exact))
        };
        one.push(
            &format!("k = {k}"),
            [
                Some(
                    Comparison::shape("less than at random", exact, 0.0..=drawn)
                        .found_as(&format!("H({k}) − 1 = {exact:.4}")),
                ),
                Some(near(exact, played(|pending| pending >= k))),
                Some(
                    Comparison::shape("−ln p", drawn, exact..=f64::INFINITY)
                        .found_as(&format!("{drawn:.4}")),
                ),
                Some(near(drawn, played(|_| generator.random::<f64>() < chance))),
            ],
        );
    }
    let pages = Pages::new(Synthetic { sources: SOURCES, observed: 1.0, ..Synthetic::KOLOBOV }, 8)?;
    let budgets = logarithmic(0.01, 0.4, 21);
    let (mut waits, mut draws) = (Vec::new(), Vec::new());
    for &each in &budgets {
        waits.push(cost(&pages, each, Observed::Threshold)?);
        draws.push(cost(&pages, each, Observed::Random)?);
    }
    let both: Vec<(f64, f64)> = waits.iter().copied().zip(draws.iter().copied()).collect();
    let never = both.iter().all(|(wait, draw)| wait <= draw);
    let usual = (cost(&pages, 0.2, Observed::Threshold)?, cost(&pages, 0.2, Observed::Random)?);
    let many = Table::list("A web that announces all changes, best plans for either rule")
        .with(
            "at 21 budgets from 0.01 to 0.4 fetches a day and source",
            Comparison::property(
                "never worse",
                &format!(
                    "{:.1} % less at the smallest, {:.1} % at the largest",
                    100.0 * (1.0 - both[0].0 / both[0].1),
                    100.0 * (1.0 - both[20].0 / both[20].1)
                ),
                never,
            ),
        )
        .with(
            "at the paper's budget, 0.2",
            Comparison::property(
                "less cost",
                &format!("{:.4} instead of {:.4}", usual.0, usual.1),
                usual.0 < usual.1,
            ),
        );
    let curves = vec![
        Curve::new("", "at the k-th change", budgets.clone(), waits),
        Curve::new("", "at each with a chance (Kolobov)", budgets, draws),
    ];
    let figure = Figure::new("Announced changes: wait for the k-th, or draw at each")
        .subtitle("harmonic cost, importance-weighted; 20,000 made-up sources")
        .plot_height(260)
        .panel(
            Panel::new()
                .x(Axis::log("budget", "fetches a day and source"))
                .y(Axis::linear("harmonic cost", "").from_zero())
                .series(curves[0].line())
                .series(curves[1].line()),
        );
    Ok(Outcome::new([one, many]).picture(Picture::new(&figure, curves)))
}
