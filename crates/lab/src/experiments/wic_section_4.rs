//! Timeliness against completeness, in closed form.

use freshet_capture::{Chances, Life, Schedule, greedy, optimum};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::experiments::wic_day::page;
use crate::outcome::Outcome;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "wic-section-4",
    paper: Paper::Wic,
    item: "table of §4",
    section: "§4; §2.3",
    about: "changes captured, in all and at once, by the best schedules for timeliness and for \
            completeness; and the life of a change window",
    run,
};

const CHANCE: f64 = 0.1;
const SPECIAL: f64 = 0.25;

fn chances(pages: usize, instants: usize) -> Result<Chances, LabError> {
    let mut row = vec![CHANCE; pages];
    row[pages - 1] = SPECIAL;
    Ok(Chances::new(pages, row.repeat(instants))?)
}

/// Always the special page; and the same, but every other page once near the end.
fn schedules(pages: usize, instants: usize) -> Result<[Schedule; 2], LabError> {
    let special = pages as u32 - 1;
    let timely = vec![vec![special]; instants];
    let mut complete = timely.clone();
    for (page, fetched) in (0..special).zip(&mut complete[instants - pages..]) {
        *fetched = vec![page];
    }
    Ok([Schedule::new(pages, timely)?, Schedule::new(pages, complete)?])
}

fn run() -> Result<Outcome, LabError> {
    let (pages, instants) = (6, 40);
    let (p, n) = (pages as f64, instants as f64);
    let all = chances(pages, instants)?;
    let [timely, complete] = schedules(pages, instants)?;
    let expected = |schedule: &Schedule, r: f64| -> Result<f64, LabError> {
        Ok(schedule.expected(&vec![page(Life::Append, r)?; pages], &all)?)
    };
    let off = |own: f64, formula: f64| (own / formula - 1.0).abs();
    let mut table = Table::new(
        "6 pages, 40 instants, π = 0.1, π′ = 0.25",
        "schedule",
        &["captured", "at once"],
    );
    table.push(
        "timeliness only",
        [
            Some(Comparison::formula("N π′", off(expected(&timely, 1.0)?, n * SPECIAL))),
            Some(Comparison::formula("N π′", off(expected(&timely, 0.0)?, n * SPECIAL))),
        ],
    );
    let others = (p - 1.0) * n - p * (p - 1.0) / 2.0;
    table.push(
        "completeness only",
        [
            Some(Comparison::formula(
                "N π′ + ((P − 1)N − P(P − 1)/2) π",
                off(expected(&complete, 1.0)?, n * SPECIAL + others * CHANCE),
            )),
            Some(Comparison::formula(
                "N π′ − (P − 1)(π′ − π)",
                off(expected(&complete, 0.0)?, n * SPECIAL - (p - 1.0) * (SPECIAL - CHANCE)),
            )),
        ],
    );
    Ok(Outcome::new([table, best()?, life()]))
}

/// Both schedules against the optimum over all of them, where it can be computed.
fn best() -> Result<Table, LabError> {
    let all = chances(3, 8)?;
    let mut table = Table::list("3 pages, 8 instants: against the best of all schedules");
    for (schedule, (name, r)) in
        schedules(3, 8)?.iter().zip([("timeliness only", 0.0), ("completeness only", 1.0)])
    {
        let pages = [page(Life::Append, r)?; 3];
        let best = optimum(&pages, &all, 1)?.expected(&pages, &all)?;
        let own = schedule.expected(&pages, &all)?;
        table = table.with(name, Comparison::formula("optimal", (own / best - 1.0).abs()));
    }
    let pages = [page(Life::Append, 0.0)?; 3];
    let same = greedy(&pages, &all, 1)? == schedules(3, 8)?[0];
    Ok(table.with(
        "WIC, timeliness only",
        Comparison::property(
            "the unique optimal schedule",
            if same { "the same schedule" } else { "another schedule" },
            same,
        ),
    ))
}

/// Returns the life of a change window of three changes with equal chances: the printed formula has the
/// exponent N − 1 − q; counting the ways in which at most two of j − k instants change gives j − k − q.
fn life() -> Table {
    let (window, chance, delay, instants) = (3, 0.3_f64, 10_u32, 40_u32);
    let choose =
        |n: u32, k: u32| (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product::<f64>();
    let formula = |exponent: &dyn Fn(u32) -> u32| -> f64 {
        (0..window)
            .map(|q| {
                choose(delay, q) * chance.powi(q as i32) * (1.0 - chance).powi(exponent(q) as i32)
            })
            .sum()
    };
    // Change by change: the chance of this many changes so far.
    let mut counts = vec![1.0];
    for _ in 0..delay {
        let mut next = vec![0.0; counts.len() + 1];
        for (many, share) in counts.iter().enumerate() {
            next[many] += share * (1.0 - chance);
            next[many + 1] += share * chance;
        }
        counts = next;
    }
    let truth: f64 = counts.iter().take(window as usize).sum();
    let off = |own: f64| (own / truth - 1.0).abs();
    Table::list("Life of a change window, Z = 3, π = 0.3, j − k = 10, N = 40").with(
        "the exponent of 1 − π",
        Comparison::formula("N − 1 − q", off(formula(&|q| instants - 1 - q))).or_formula(
            "j − k − q",
            off(formula(&|q| delay - q)),
            "counting changes one by one",
        ),
    )
}
