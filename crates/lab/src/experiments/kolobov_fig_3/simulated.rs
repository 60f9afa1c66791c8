//! freshet's engine and the learners of the paper, in the simulator.

use freshet_chart::{Axis, Panel};
use freshet_sim::{Experiment as Simulation, Origin, Synthetic, WebKind};

use crate::comparison::Comparison;
use crate::error::LabError;
use crate::picture::Curve;
use crate::table::Table;

const DAYS: f64 = 21.0;
const SOURCES: usize = 5000;
const POLICIES: [(&str, &str); 6] = [
    ("engine", "engine"),
    ("lambda", "LLC"),
    ("lambda-approx", "LLCA"),
    ("lambda-floor", "BLLCε"),
    ("engine:known", "engine, rates known"),
    ("optimum:poisson", "LC, rates known"),
];

pub(super) fn simulated() -> Result<(Table, Panel, Vec<Curve>), LabError> {
    let synthetic = Synthetic { sources: SOURCES, ..Synthetic::KOLOBOV };
    let mut simulation = Simulation::new(Origin::Synthetic(synthetic, WebKind::Poisson));
    simulation.policies =
        POLICIES.iter().map(|(name, _)| name.parse()).collect::<Result<_, _>>()?;
    // The last week counts.
    (simulation.days, simulation.burn_in) = (Some(DAYS), Some(DAYS - 7.0));
    (simulation.seeds, simulation.seed, simulation.pieces) = (5, 31, 21);
    let report = simulation.run(&|_| {})?;
    let cost = |at: usize| report.policies[at].measured.harmonic_cost.mean;
    let words = |at: usize| format!("{:.4}", cost(at));
    let table = Table::list("Ours: harmonic cost in the third week, simulated")
        .of_theory()
        .with(
            "engine and LLC, both learning",
            Comparison::property(
                "less",
                &format!("{} and {}", words(0), words(1)),
                cost(0) < cost(1),
            ),
        )
        .with(
            "engine over the same with known rates",
            Comparison::shape("within 10 %", cost(0) / cost(4), 0.98..=1.1),
        )
        .with(
            "engine, which learns, and LC, which knows all rates",
            Comparison::property(
                "less: LC has fixed intervals",
                &format!("{} and {}", words(0), words(5)),
                cost(0) < cost(5),
            ),
        )
        .with(
            "LLC, LLCA and BLLCε",
            Comparison::property(
                "LLC is least",
                &format!("{}, {}, {}", words(1), words(2), words(3)),
                cost(1) < cost(2) && cost(1) < cost(3),
            ),
        );
    let mut panel = Panel::new().title("as simulated").x(Axis::linear("day", "")).y(Axis::linear(
        "harmonic cost",
        "",
    )
    .from_zero());
    let mut curves = Vec::new();
    let looks = [3, 0, 1, 2, 3, 0];
    for ((policy, (_, name)), look) in report.policies.iter().zip(POLICIES).zip(looks) {
        let y = policy.series.harmonic_cost.clone();
        let x = (0..y.len()).map(|piece| (piece as f64 + 0.5) * DAYS / y.len() as f64).collect();
        let curve = Curve::new("as simulated", name, x, y);
        let line = curve.line().look(look);
        panel = panel.series(if name.ends_with("known") { line.dashed() } else { line.solid() });
        curves.push(curve);
    }
    Ok((table, panel, curves))
}
