//! Fixed intervals against random times, on Kolobov's objective.

use freshet_chart::{Axis, Figure, Mark, Panel};
use freshet_plan::{Objective, Timing};
use freshet_sim::Synthetic;

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::kolobov_web::Pages;
use crate::grid::logarithmic;
use crate::index::bisect;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::planned::{best, measured};
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "ours-fixed-intervals",
    paper: Paper::Ours,
    item: "fixed intervals",
    section: "against Kolobov, §4.1",
    about: "fetching at fixed intervals instead of at random times, on Kolobov's own objective and \
            at an equal budget",
    run,
};

const SOURCES: usize = 20_000;
const USUAL: f64 = 0.2;

struct Web(Pages);

impl Web {
    /// Returns the harmonic cost per source at a budget, as a share of all importance.
    fn cost(&self, each: f64, timing: Timing) -> Result<f64, LabError> {
        let Pages { weights, changes, .. } = &self.0;
        let rates =
            best(weights, changes, each * SOURCES as f64, Objective::Harmonic, timing)?.rates;
        let all = measured(weights, changes, &rates, timing)?;
        Ok(all.cost(Objective::Harmonic) / all.weight())
    }
}

fn run() -> Result<Outcome, LabError> {
    let web = Web(Pages::new(Synthetic { sources: SOURCES, ..Synthetic::KOLOBOV }, 7)?);
    let budgets = logarithmic(0.01, 10.0, 25);
    let (mut fixed, mut random) = (Vec::new(), Vec::new());
    for &each in &budgets {
        fixed.push(web.cost(each, Timing::Periodic)?);
        random.push(web.cost(each, Timing::Poisson)?);
    }
    let saved: Vec<f64> = fixed.iter().zip(&random).map(|(a, b)| 100.0 * (1.0 - a / b)).collect();
    let (usual_fixed, usual_random) =
        (web.cost(USUAL, Timing::Periodic)?, web.cost(USUAL, Timing::Poisson)?);
    // Returns the additional budget of random times for the same cost.
    let (enough, _) = bisect(USUAL, 8.0 * USUAL, |each| {
        each < 8.0 * USUAL && web.cost(each, Timing::Poisson).is_ok_and(|cost| cost > usual_fixed)
    });
    let never = saved.iter().all(|&saved| saved > 0.0);
    let low = saved.iter().copied().fold(f64::INFINITY, f64::min);
    let high = saved.iter().copied().fold(0.0, f64::max);
    let table = Table::list("Fixed intervals against random times")
        .with(
            "at 25 budgets from 0.01 to 10 fetches a day and source",
            Comparison::property(
                "never worse (Jensen's inequality)",
                &format!("{low:.1} % to {high:.1} % less cost"),
                never,
            ),
        )
        .with(
            "at the paper's budget, 0.2",
            Comparison::property(
                "less cost",
                &format!("{usual_fixed:.4} instead of {usual_random:.4}"),
                usual_fixed < usual_random,
            ),
        )
        .with(
            "budget that random times need for the cost that fixed intervals have at 0.2",
            Comparison::shape("more than 0.2", enough, USUAL..=f64::INFINITY)
                .found_as(&format!("{enough:.4}, {:.0} % more", 100.0 * (enough / USUAL - 1.0))),
        );
    let curves = vec![
        Curve::new("cost", "fixed intervals", budgets.clone(), fixed),
        Curve::new("cost", "random times (Kolobov)", budgets.clone(), random),
        Curve::new("saved", "saved", budgets, saved),
    ];
    let x = || Axis::log("budget", "fetches a day and source");
    let figure = Figure::new("Fixed intervals against random times")
        .subtitle(
            "harmonic cost, importance-weighted, on a web like Kolobov's without announcements",
        )
        .columns(2)
        .plot_height(260)
        .width(980)
        .panel(
            Panel::new()
                .title("cost")
                .x(x())
                .y(Axis::linear("harmonic cost", "").from_zero())
                .series(curves[0].line())
                .series(curves[1].line())
                .mark(Mark::vertical(USUAL, "0.2")),
        )
        .panel(
            Panel::new()
                .title("saved by fixed intervals")
                .x(x())
                .y(Axis::linear("less cost", "%").from_zero())
                .series(curves[2].line())
                .mark(Mark::vertical(USUAL, "0.2")),
        );
    Ok(Outcome::new([table]).picture(Picture::new(&figure, curves)))
}
