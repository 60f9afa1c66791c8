//! Learning change rates while fetching.

mod learn;
mod simulated;

use freshet_chart::{Axis, Figure, Panel};
use freshet_sim::Synthetic;
use rayon::prelude::*;

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::kolobov_fig_3::learn::learn;
use crate::experiments::kolobov_fig_3::simulated::simulated;
use crate::experiments::kolobov_web::{Costs, Crawl, KINDS, Kind, Pages};
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "kolobov-fig-3",
    paper: Paper::Kolobov,
    item: "Figure 3",
    section: "§7 (3), §9.6",
    about: "three policies that learn the change rates over 21 days, on a web like the paper's; and \
            our engine beside them",
    run,
};

const DAYS: usize = 21;
const EPISODES: u64 = 5;
const SOURCES: usize = 10_000;
const CRAWLS: [(Crawl, &str); 3] =
    [(Crawl::Lc, "LLC"), (Crawl::Lca, "LLCA"), (Crawl::BlcFloor, "BLLCε")];

/// Cost of a policy by day, and its cost with known rates.
struct LearnedRates {
    days: Vec<Costs>,
    known: Costs,
}

fn episode(crawl: Crawl, seed: u64) -> Result<LearnedRates, LabError> {
    let synthetic = Synthetic { sources: SOURCES, ..Synthetic::KOLOBOV };
    let pages = Pages::new(synthetic, 100 + seed)?;
    Ok(LearnedRates { days: learn(&pages, crawl, DAYS, 200 + seed)?, known: pages.planned(crawl)? })
}

/// Returns the mean over the episodes, for each policy.
fn episodes() -> Result<Vec<LearnedRates>, LabError> {
    let jobs: Vec<(usize, u64)> =
        (0..CRAWLS.len()).flat_map(|at| (0..EPISODES).map(move |seed| (at, seed))).collect();
    let all: Vec<LearnedRates> = jobs
        .par_iter()
        .map(|&(at, seed)| episode(CRAWLS[at].0, seed))
        .collect::<Result<_, LabError>>()?;
    let mean = |own: &[LearnedRates]| LearnedRates {
        days: (0..=DAYS).map(|day| mean_of(own, |it| it.days[day])).collect(),
        known: mean_of(own, |it| it.known),
    };
    Ok(all.chunks(EPISODES as usize).map(mean).collect())
}

fn mean_of(episodes: &[LearnedRates], of: impl Fn(&LearnedRates) -> Costs) -> Costs {
    let all: Vec<Costs> = episodes.iter().map(of).collect();
    let each = |part: fn(&Costs) -> f64| all.iter().map(part).sum::<f64>() / all.len() as f64;
    Costs { harmonic: each(|it| it.harmonic), binary: each(|it| it.binary) }
}

/// Returns the first day from which a policy stays within 5 % of its cost with known rates.
fn settled(learnt: &LearnedRates) -> usize {
    let limit = 1.05 * learnt.known.harmonic;
    let far = learnt.days.iter().rposition(|costs| costs.harmonic > limit);
    far.map_or(0, |day| day + 1)
}

/// Returns the first day from which a policy stays within 2 % of its final cost.
fn at_rest(learnt: &LearnedRates) -> usize {
    let end = learnt.days[DAYS].harmonic;
    let far = learnt.days.iter().rposition(|costs| (costs.harmonic / end - 1.0).abs() > 0.02);
    far.map_or(0, |day| day + 1)
}

/// Days by which LLCA is before LLC, or LLC before BLLCε, whichever are fewer.
fn lead([llc, llca, bllc]: [usize; 3]) -> f64 {
    (llc as f64 - llca as f64).min(bllc as f64 - llc as f64)
}

fn run() -> Result<Outcome, LabError> {
    let all = episodes()?;
    let ends = [0, 1, 2].map(|at| all[at].days[DAYS]);
    let words = |numbers: [f64; 3]| numbers.map(|it| format!("{it:.2}")).join(", ");
    let harmonic = ends.map(|it| it.harmonic);
    let binary = ends.map(|it| it.binary);
    let days = [0, 1, 2].map(|at| settled(&all[at]));
    let rest = [0, 1, 2].map(|at| at_rest(&all[at]));
    let day = |day: usize| match day {
        day if day > DAYS => "later".to_owned(),
        day => format!("day {day}"),
    };
    let words_of = |days: [usize; 3]| {
        format!("LLCA {}, LLC {}, BLLCε {}", day(days[1]), day(days[0]), day(days[2]))
    };
    let table =
        Table::list("LLC, LLCA and BLLCε: costs per source of each day’s plan, at the true rates")
            .with(
                "harmonic cost after 21 days",
                Comparison::property(
                    "LLC below LLCA below BLLCε",
                    &words(harmonic),
                    harmonic[0] < harmonic[1] && harmonic[1] < harmonic[2],
                ),
            )
            .with(
                "binary cost after 21 days, LLCA over LLC",
                Comparison::shape("only weakly affected", binary[1] / binary[0], 0.9..=1.1)
                    .note(&format!("LLC, LLCA, BLLCε: {}", words(binary))),
            )
            .with(
                "the day from which on the harmonic cost has converged",
                Comparison::open_shape(
                    "LLCA first, BLLCε last",
                    &[lead(days), lead(rest)],
                    &(1.0..=f64::INFINITY),
                    "how near to what counts as converged",
                )
                .found_as(&format!(
                    "within 5 % of known rates: {}; within 2 % of where it ends: {}",
                    words_of(days),
                    words_of(rest)
                )),
            )
            .with(
                "LLC after 21 days, over the same with known rates",
                Comparison::shape("converges", harmonic[0] / all[0].known.harmonic, 1.0..=1.25),
            );
    let (ours, panel, mut drawn) = simulated()?;
    let (figure, mut curves) = picture(&all);
    curves.append(&mut drawn);
    Ok(Outcome::new([table, ours])
        .picture(Picture::new(&figure.panel(panel), curves))
        .note(&format!(
            "The data set is not at hand; the web is that of Fig. 1. As in the paper: every source is \
             first taken to change once a day, each day the rates are estimated again (its Eqs 10 and \
             11) and the plan is made again and evaluated at the true rates; means of {EPISODES} \
             episodes with {SOURCES} sources (the paper: 20 with 100,000). The second table and the \
             third panel are simulated, with costs as they came about, each source weighted by its \
             importance."
        )))
}

fn picture(all: &[LearnedRates]) -> (Figure, Vec<Curve>) {
    let x: Vec<f64> = (0..=DAYS).map(|day| day as f64).collect();
    let mut figure = Figure::new("Learning change rates over three weeks")
        .subtitle(
            "costs of each day’s plan at the true rates; dashed: the same policy if it knew them",
        )
        .columns(3)
        .plot_height(240)
        .width(1180);
    let mut curves = Vec::new();
    for Kind { name: title, of } in KINDS {
        let mut panel = Panel::new()
            .title(title)
            .x(Axis::linear("day", ""))
            .y(Axis::linear("cost per source", ""));
        for (look, ((_, name), learnt)) in CRAWLS.iter().zip(all).enumerate() {
            let curve = Curve::new(title, name, x.clone(), learnt.days.iter().map(of).collect());
            let flat = Curve::new(
                &format!("{title}, known rates"),
                name,
                vec![0.0, DAYS as f64],
                vec![of(&learnt.known); 2],
            );
            panel = panel
                .series(curve.line_points().look(look).solid())
                .series(flat.line().look(look).dashed());
            curves.extend([curve, flat]);
        }
        figure = figure.panel(panel);
    }
    (figure, curves)
}
