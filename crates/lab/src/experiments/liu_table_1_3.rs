//! Dynamic policy with as many fetchers as are useful.

use freshet_crew::{Event, Iterated, Iteration, Setting, best_fixed, solve, value_iteration};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Evidence;
use crate::error::LabError;
use crate::experiments::liu_table_1_2::{self, about_113, improvement, rows};
use crate::outcome::Outcome;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "liu-table-1-3",
    paper: Paper::LiuNain,
    item: "Table 1.3",
    section: "§1.2.3",
    about: "a fixed number of fetchers against starting them by the queue, with as many as are of use",
    run,
};

/// λ, K, γ; C_s, N_s; C_d, N_min, N̄, N_max, improvement in percent.
const ROWS: &str = "\
0.01 5 0.4 0.17541 73 0.16595 58 74.8 82 6
0.01 5 1.4 0.40000 100 0.37886 88 99.9 115 6
0.01 5 2.4 0.53834 114 0.51179 103 113.0 133 5
0.01 10 0.4 0.10207 86 0.08124 62 89.3 105 27
0.01 10 1.2 0.20000 100 0.15876 78 99.6 123 26
0.01 10 2.4 0.28347 110 0.22777 89 107.1 137 24
0.01 15 0.4 0.07177 91 0.04236 59 94.9 118 69
0.01 15 1.13 0.13313 100 0.07812 71 99.8 131 70
0.01 15 2.4 0.19192 107 0.11493 79 103.6 143 67
0.05 5 0.4 0.17578 15 0.13770 7 15.9 20 28
0.05 5 1.4 0.40000 20 0.31712 13 19.8 27 26
0.05 5 2.4 0.53841 23 0.43292 16 21.9 32 24
0.05 10 0.4 0.10220 17 0.04128 5 19.0 29 148
0.05 10 1.2 0.20000 20 0.12020 8 19.9 33 66
0.05 10 2.4 0.28347 22 0.20541 10 20.6 36 38
0.05 15 0.4 0.07184 18 0.00969 2 19.8 35 641
0.05 15 1.13 0.13313 20 0.01818 4 20.0 38 632
0.05 15 2.4 0.19372 21 0.02782 6 20.1 41 596
0.1 5 0.4 0.17600 7 0.11097 2 8.2 12 59
0.1 5 1.4 0.40000 10 0.25924 4 9.8 16 54
0.1 5 2.4 0.54067 11 0.35805 6 10.7 18 51
0.1 10 0.4 0.10403 9 0.01937 0 9.7 18 437
0.1 10 1.2 0.20000 10 0.03887 1 9.9 20 415
0.1 10 2.4 0.28347 11 0.05894 2 10.1 22 381
0.1 15 0.4 0.07184 9 0.00188 0 10.0 24 3721
0.1 15 1.13 0.13313 10 0.00368 0 10.0 25 3518
0.1 15 2.4 0.19458 11 0.00585 0 10.0 27 3226";

fn run() -> Result<Outcome, LabError> {
    let columns = ["C_s", "N_s", "C_d", "N_min", "N̄", "N_max", "better by %"];
    let mut table = Table::new("", "setting", &columns);
    let mut reached = 0;
    for row in rows(ROWS) {
        let fixed = best_fixed(&row.setting()?, None)?;
        let setting = row.exact_setting()?;
        let fetchers = best_fixed(&setting, None)?.fetchers;
        let dynamic = solve(&setting, None)?;
        let measures = dynamic.measures;
        let curve = dynamic.policy.curve(Event::Departure);
        let last = curve.iter().rposition(Option::is_some).unwrap_or(0);
        reached += usize::from(measures.max_active as usize == last);
        let gain = improvement(fixed.cost, measures.cost);
        let mut cells = vec![
            row.compare(0, fixed.cost),
            row.compare(1, fetchers as f64),
            row.compare(2, measures.cost),
            row.compare(3, f64::from(measures.min_active)),
            row.compare(4, measures.mean_active),
            row.compare(5, last as f64),
            row.compare(6, gain),
        ];
        let percent = |fixed: f64, dynamic: f64| 100.0 * (fixed - dynamic) / dynamic;
        let costs = row.printed[2].ends();
        let fixed_costs = row.printed[0].ends();
        let mut gains = (percent(fixed_costs.0, costs.1), percent(fixed_costs.1, costs.0));
        let mut why = String::new();
        let cost_differs = !row.printed[2].agrees(measures.cost);
        if cost_differs || !row.printed[4].agrees(measures.mean_active) {
            let second = second(&setting, dynamic.policy.available())?;
            let by = "relative value iteration, a second algorithm, proves a cost between";
            let Iterated { least, most, .. } = second.iterated;
            let proof = Evidence::between(least, most, &format!("{by} {least:.8} and {most:.8}"));
            let source = another(&row.label, row.printed[2].text());
            cells[2] = cells[2].clone().or_misprint(&row.printed[2], &proof, &source);
            let mean = Evidence::second(
                second.mean_active,
                1e-6,
                "the stationary state of the policy that value iteration finds has the same",
            );
            cells[4] = cells[4].clone().or_misprint(&row.printed[4], &mean, "");
            if cost_differs {
                // As printed it fits the printed costs, of which one is wrong.
                let fits = (gains.0.floor()..=gains.1.ceil()).contains(&row.printed[6].value());
                why = if fits { "taken from the misprinted C_d".to_owned() } else { String::new() };
                gains = (percent(fixed.cost, most) - 0.1, percent(fixed.cost, least) + 0.1);
            }
        }
        if !row.printed[6].agrees(gain) {
            let by = format!("the costs give {:.1} to {:.1}", gains.0, gains.1);
            let proof = Evidence::between(gains.0, gains.1, &by);
            cells[6] = cells[6].clone().or_misprint(&row.printed[6], &proof, &why);
        }
        table.push(&row.label, cells.into_iter().map(Some));
    }
    Ok(Outcome::new([table]).note(&format!(
        "C_d is the optimum, proved. N_max as printed is the largest number of active fetchers at \
         which a departure from a queue of one still starts one more; it is also the largest number \
         that is ever active in {reached} of the 27 rows. {}",
        about_113()?
    )))
}

/// Table to which the cost belongs: this one or the previous one.
fn another(label: &str, cost: &str) -> String {
    let here = rows(ROWS).filter(|row| row.label != label).find(|row| {
        let exact = row.exact_setting().and_then(|setting| Ok(solve(&setting, None)?));
        exact.is_ok_and(|exact| format!("{:.5}", exact.measures.cost) == cost)
    });
    let before = rows(liu_table_1_2::ROWS).find(|row| row.printed[2].text() == cost);
    match (here, before) {
        (Some(row), _) => format!("{cost} belongs to {}", row.label),
        (None, Some(row)) => format!("{cost} is that of {} in Table 1.2", row.label),
        (None, None) => String::new(),
    }
}

/// A second calculation.
struct Second {
    iterated: Iterated,
    mean_active: f64,
}

/// Value iteration to the end, and the stationary state of its policy by stepping the uniformised
/// chain.
fn second(setting: &Setting, available: u32) -> Result<Second, LabError> {
    let available = available + 2;
    let patient = Iteration { tolerance: 1e-9, ..Iteration::default() };
    let iterated = value_iteration(setting, available, &patient)?;
    let (buffer, width) = (setting.buffer() as usize, available as usize + 1);
    let (fetch, process) = (setting.fetch_rate(), setting.process_rate());
    let all = fetch * f64::from(available) + process;
    let mut now = vec![0.0; (buffer + 1) * width];
    now[1] = 1.0;
    for _ in 0..100_000 {
        let mut next = vec![0.0; now.len()];
        for (place, &chance) in now.iter().enumerate().filter(|(_, chance)| **chance > 0.0) {
            let (queue, active) = (place / width, place % width);
            let (q, r) = (queue as u32, active as u32);
            let comes = chance * fetch * active as f64 / all;
            let leaves = if queue > 0 { chance * process / all } else { 0.0 };
            if active > 0 {
                let again = usize::from(iterated.starts_on(Event::Arrival, q, r));
                next[(queue + 1).min(buffer) * width + active - 1 + again] += comes;
            }
            if queue > 0 {
                let one = usize::from(iterated.starts_on(Event::Departure, q, r));
                next[(queue - 1) * width + active + one] += leaves;
            }
            next[place] += chance - comes - leaves;
        }
        let moved: f64 = now.iter().zip(&next).map(|(a, b)| (a - b).abs()).sum();
        now = next;
        if moved < 1e-13 {
            break;
        }
    }
    let mean_active =
        now.iter().enumerate().map(|(place, chance)| (place % width) as f64 * chance).sum();
    Ok(Second { iterated, mean_active })
}
