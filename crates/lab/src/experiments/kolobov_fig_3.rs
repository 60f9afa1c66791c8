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
use crate::experiments::kolobov_web::{Costs, Crawl, Pages};
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

/// The costs of each policy and day, as means over the episodes, and those with known rates.
type Learnt = (Vec<Vec<Costs>>, Vec<Costs>);

fn episodes() -> Result<Learnt, LabError> {
    let synthetic = Synthetic { sources: SOURCES, ..Synthetic::KOLOBOV };
    let jobs: Vec<(u64, usize)> =
        (0..EPISODES).flat_map(|seed| (0..CRAWLS.len()).map(move |at| (seed, at))).collect();
    let runs: Vec<(Vec<Costs>, Costs)> = jobs
        .par_iter()
        .map(|&(seed, at)| {
            let pages = Pages::new(synthetic, 100 + seed)?;
            let known = pages.planned(CRAWLS[at].0)?;
            Ok((learn(&pages, CRAWLS[at].0, DAYS, 200 + seed)?, known))
        })
        .collect::<Result<_, LabError>>()?;
    let mean = |at: usize, of: &dyn Fn(&(Vec<Costs>, Costs)) -> Costs| {
        let own: Vec<Costs> = runs.iter().skip(at).step_by(CRAWLS.len()).map(of).collect();
        let each = |part: fn(&Costs) -> f64| own.iter().map(part).sum::<f64>() / own.len() as f64;
        Costs { harmonic: each(|it| it.harmonic), binary: each(|it| it.binary) }
    };
    let days = |at: usize| (0..=DAYS).map(|day| mean(at, &|run| run.0[day])).collect();
    let all = (0..CRAWLS.len()).map(days).collect();
    let known = (0..CRAWLS.len()).map(|at| mean(at, &|run| run.1)).collect();
    Ok((all, known))
}

/// The first day from which on a policy is within 5 % of what it would cost with known rates.
fn settled(days: &[Costs], known: Costs) -> usize {
    let far = days.iter().rposition(|costs| costs.harmonic > 1.05 * known.harmonic);
    far.map_or(0, |day| day + 1)
}

fn run() -> Result<Outcome, LabError> {
    let (all, known) = episodes()?;
    let [llc, llca, floor] = [&all[0], &all[1], &all[2]];
    let end = |days: &[Costs]| days[DAYS];
    let words = |numbers: [f64; 3]| numbers.map(|it| format!("{it:.2}")).join(", ");
    let harmonic = [end(llc), end(llca), end(floor)].map(|it| it.harmonic);
    let binary = [end(llc), end(llca), end(floor)].map(|it| it.binary);
    let days = [settled(llc, known[0]), settled(llca, known[1]), settled(floor, known[2])];
    let day = |at: usize| match days[at] {
        day if day > DAYS => "later".to_owned(),
        day => format!("day {day}"),
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
                "within 5 % of the harmonic cost with known rates",
                Comparison::property(
                    "LLCA first, BLLCε last",
                    &format!("LLCA {}, LLC {}, BLLCε {}", day(1), day(0), day(2)),
                    days[1] < days[0] && days[0] < days[2],
                ),
            )
            .with(
                "LLC after 21 days, over the same with known rates",
                Comparison::shape("converges", harmonic[0] / known[0].harmonic, 1.0..=1.25),
            );
    let (ours, panel, mut drawn) = simulated()?;
    let (figure, mut curves) = picture(&all, &known);
    curves.append(&mut drawn);
    Ok(Outcome::new([table, ours])
        .picture(Picture::new(&figure.panel(panel), curves))
        .note(&format!(
            "The data set is not at hand; the web is that of Fig. 1. As in the paper: every source is \
             first taken to change once a day, each day the rates are estimated anew (its Eqs 10 and \
             11) and the plan is made anew and evaluated at the true rates; means of {EPISODES} \
             episodes with {SOURCES} sources (the paper: 20 with 100,000). The second table and the \
             third panel are simulated, with costs as they came about, each source weighted by its \
             importance."
        )))
}

fn picture(all: &[Vec<Costs>], known: &[Costs]) -> (Figure, Vec<Curve>) {
    let x: Vec<f64> = (0..=DAYS).map(|day| day as f64).collect();
    let mut figure = Figure::new("Learning change rates over three weeks")
        .subtitle(
            "costs of each day’s plan at the true rates; dashed: the same policy if it knew them",
        )
        .columns(3)
        .plot_height(240)
        .width(1180);
    let mut curves = Vec::new();
    let kinds: [(&str, fn(&Costs) -> f64); 2] =
        [("harmonic cost", |it| it.harmonic), ("binary cost", |it| it.binary)];
    for (title, of) in kinds {
        let mut panel = Panel::new()
            .title(title)
            .x(Axis::linear("day", ""))
            .y(Axis::linear("cost per source", ""));
        for (look, ((_, name), (days, known))) in
            CRAWLS.iter().zip(all.iter().zip(known)).enumerate()
        {
            let curve = Curve::new(title, name, x.clone(), days.iter().map(of).collect());
            let flat = Curve::new(
                &format!("{title}, known rates"),
                name,
                vec![0.0, DAYS as f64],
                vec![of(known); 2],
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
