//! Distance of the greedy schedule from the optimum.

use freshet_capture::{Chances, Life, Page, Urgency, bound, greedy, optimum};
use freshet_chart::{Axis, Figure, Panel};
use rand::RngExt;

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::outcome::Outcome;
use crate::picture::{Curve, Picture};
use crate::random::{Random, random};
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "wic-bound",
    paper: Paper::Wic,
    item: "Theorem 1",
    section: "§3.3, appendix A",
    about: "the optimum over the greedy schedule on small cases solved by brute force, against the \
            bound 1 + a",
    run,
};

const CASES: usize = 2000;

const LIVES: [&str; 5] = ["append", "overwrite", "window:0", "window:2", "changes:2"];
const URGENCIES: [&str; 6] =
    ["uniform", "decay:0.9", "decay:0.5", "decay:0.2", "window:2", "window:0"];

/// Greedy and optimum of one case.
fn case(urgency: Urgency, lives: &[Life], random: &mut Random) -> Result<(f64, f64), LabError> {
    let (count, instants) = (random.random_range(2..=3_usize), random.random_range(2..=6_usize));
    let mut pages = Vec::new();
    for _ in 0..count {
        let life = lives[random.random_range(0..lives.len())];
        pages.push(Page::new(random.random::<f64>(), life, urgency)?);
    }
    // A choice matters if changes are rare and certain.
    let chance = |random: &mut Random| match random.random_range(0..4) {
        0 | 1 => 0.0,
        2 => 1.0,
        _ => random.random::<f64>(),
    };
    let chances = (0..count * instants).map(|_| chance(random)).collect();
    let chances = Chances::new(count, chances)?;
    let own = greedy(&pages, &chances, 1)?.expected(&pages, &chances)?;
    let best = optimum(&pages, &chances, 1)?.expected(&pages, &chances)?;
    Ok((own, best))
}

fn run() -> Result<Outcome, LabError> {
    let lives: Vec<Life> = LIVES.iter().filter_map(|text| text.parse().ok()).collect();
    let mut table = Table::list(&format!("The largest optimum over greedy of {CASES} cases each"));
    let mut drawn = Vec::new();
    for name in URGENCIES {
        let Ok(urgency) = name.parse::<Urgency>() else { continue };
        let limit = bound(&[Page::new(1.0, Life::Append, urgency)?]);
        let mut generator = random(33);
        let mut ratios = Vec::new();
        for _ in 0..CASES {
            let (own, best) = case(urgency, &lives, &mut generator)?;
            if own > 0.0 {
                ratios.push(best / own);
            }
        }
        ratios.sort_by(f64::total_cmp);
        let worst = ratios.last().copied().unwrap_or(f64::NAN);
        table = table.with(
            &format!("urgency {name}"),
            Comparison::shape(
                &format!("at most 1 + a = {limit}"),
                worst,
                (1.0 - 1e-12)..=limit * (1.0 + 1e-12),
            ),
        );
        let shares = (0..ratios.len()).map(|at| (at as f64 + 0.5) / ratios.len() as f64).collect();
        drawn.push(Curve::new("", name, ratios, shares));
    }
    let append = |life: Life| Page::new(1.0, life, Urgency::Uniform);
    let pages = [append(Life::Append)?, append(Life::Window(0))?];
    let chances = Chances::new(2, vec![1.0, 1.0, 0.0, 0.0])?;
    let own = greedy(&pages, &chances, 1)?.expected(&pages, &chances)?;
    let best = optimum(&pages, &chances, 1)?.expected(&pages, &chances)?;
    let reached = Table::list("Beyond the paper").of_theory().with(
        "two pages change at once, one for good, one for this instant only",
        Comparison::shape("the bound of 2 is reached", best / own, 2.0..=2.0),
    );
    let mut panel = Panel::new()
        .x(Axis::linear("optimum over greedy", "times").range(1.0, 2.0))
        .y(Axis::linear("share of cases", "").range(0.5, 1.0));
    for curve in &drawn {
        panel = panel.series(curve.line());
    }
    let figure = Figure::new("How far from the optimum the greedy schedule is")
        .subtitle("small random cases, one fetch an instant")
        .plot_height(260)
        .panel(panel);
    Ok(Outcome::new([table, reached]).picture(Picture::new(&figure, drawn)).note(
        "Two or three pages with random weights and lives over two to six instants. In §3.3 the sums \
         after “an optimal schedule” go from prev^o, as in the appendix; and past the end of a window \
         the ratio in a is 0/0, which is left out.",
    ))
}
