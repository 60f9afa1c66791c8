//! The best fixed number of fetchers.

use freshet_crew::{Setting, best_fixed, large_buffer_rule};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::{Comparison, Evidence};
use crate::error::LabError;
use crate::outcome::Outcome;
use crate::printed::Printed;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "liu-table-1-1",
    paper: Paper::LiuNain,
    item: "Table 1.1",
    section: "§1.2.1.3",
    about: "the best fixed number of fetchers, and the rule for large buffers, at λ = 0.01 and μ = 1",
    run,
};

const BUFFERS: [u32; 9] = [2, 3, 4, 5, 10, 20, 30, 40, 50];
const FETCH_RATE: f64 = 0.01;

fn run() -> Result<Outcome, LabError> {
    let mut columns: Vec<String> = BUFFERS.iter().map(|buffer| format!("K = {buffer}")).collect();
    columns.push("K = ∞".to_owned());
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new("N(γ, K)", "weight", &columns);
    for (weight, printed) in [
        (0.1, [20, 34, 44, 52, 72, 85, 89, 92, 94, 100]),
        (0.5, [48, 63, 71, 77, 89, 95, 96, 97, 98, 100]),
        (1.2, [77, 88, 93, 96, 100, 101, 101, 101, 100, 100]),
        (1.5, [86, 96, 100, 102, 103, 102, 102, 101, 101, 100]),
        (2.0, [100, 107, 109, 109, 107, 104, 103, 102, 102, 100]),
    ] {
        let mut cells = Vec::new();
        for (&buffer, &printed) in BUFFERS.iter().zip(&printed) {
            let ours = best_fixed(&Setting::new(FETCH_RATE, 1.0, buffer, weight)?, None)?.fetchers;
            cells.push(Some(compared(printed, ours, buffer, weight)));
        }
        // The rule does not depend on K.
        let rule = large_buffer_rule(&Setting::new(FETCH_RATE, 1.0, 2, weight)?);
        cells.push(Some(Comparison::count(printed[9], rule)));
        table.push(&format!("γ = {weight}"), cells);
    }
    Ok(Outcome::new([table]))
}

fn compared(printed: u64, ours: u64, buffer: u32, weight: f64) -> Comparison {
    let number = Printed::new(&printed.to_string());
    let cost = |fetchers: u64| cost(buffer, weight, fetchers);
    // The cost has one minimum (Lemma 1): a value below both neighbours is optimal.
    let best = cost(ours) < cost(ours - 1) && cost(ours) < cost(ours + 1);
    let place = if best { ours as f64 } else { f64::NAN };
    let evidence = Evidence::second(
        place,
        0.0,
        &format!(
            "summing the states of the queue, {ours} cost {:.7} and {printed} cost {:.7}",
            cost(ours),
            cost(printed)
        ),
    );
    Comparison::count(printed, ours).or_misprint(&number, &evidence, "")
}

/// γ P₀ + λ N P_K, state by state.
fn cost(buffer: u32, weight: f64, fetchers: u64) -> f64 {
    let load = fetchers as f64 * FETCH_RATE;
    let states: Vec<f64> = (0..=buffer).map(|queue| load.powi(queue as i32)).collect();
    let all: f64 = states.iter().sum();
    weight / all + load * states[buffer as usize] / all
}
