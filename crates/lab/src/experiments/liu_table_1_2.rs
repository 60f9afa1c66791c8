//! Dynamic policy with as many fetchers as the best fixed number: Table 1.2, and code shared with Table
//! 1.3.

use freshet_crew::{Iteration, Setting, best_fixed, solve, value_iteration};

use crate::catalogue::{Experiment, Paper};
use crate::comparison::Comparison;
use crate::error::LabError;
use crate::outcome::Outcome;
use crate::printed::Printed;
use crate::table::Table;

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "liu-table-1-2",
    paper: Paper::LiuNain,
    item: "Table 1.2",
    section: "§1.2.3",
    about: "a fixed number of fetchers against starting them by the queue, with as many at hand",
    run,
};

/// λ, K, γ; C_s, N_s; C_d, N_min, N̄, N_iter, improvement in percent.
pub(super) const ROWS: &str = "\
0.01 5 0.4 0.17541 73 0.16804 57 70.3 1634 4
0.01 5 1.4 0.40000 100 0.38336 86 95.1 1911 4
0.01 5 2.4 0.53834 114 0.51746 101 108.4 2051 4
0.01 10 0.4 0.10207 86 0.09062 60 82.6 1794 13
0.01 10 1.2 0.20000 100 0.17534 77 94.1 1939 14
0.01 10 2.4 0.28347 110 0.24798 88 102.3 2039 14
0.01 15 0.4 0.07177 91 0.05891 58 87.7 1860 22
0.01 15 1.13 0.13313 100 0.10720 70 94.5 1953 24
0.01 15 2.4 0.19192 107 0.15342 78 99.7 2024 25
0.05 5 0.4 0.17578 15 0.15127 7 13.8 338 16
0.05 5 1.4 0.40000 20 0.34733 12 17.7 391 15
0.05 5 2.4 0.53841 23 0.46583 15 20.2 422 16
0.05 10 0.4 0.10220 17 0.08308 5 16.2 369 23
0.05 10 1.2 0.20000 20 0.14955 8 18.2 402 34
0.05 10 2.4 0.28347 22 0.20541 10 19.4 423 38
0.05 15 0.4 0.07184 18 0.05514 4 17.4 401 30
0.05 15 1.13 0.13313 20 0.09117 6 18.7 426 46
0.05 15 2.4 0.19372 21 0.13895 8 19.3 438 39
0.1 5 0.4 0.17600 7 0.15239 1 6.5 167 15
0.1 5 1.4 0.40000 10 0.32198 4 8.6 200 24
0.1 5 2.4 0.54067 11 0.44989 5 9.3 211 20
0.1 10 0.4 0.10403 9 0.06838 0 8.4 204 52
0.1 10 1.2 0.20000 10 0.13854 2 9.0 218 44
0.1 10 2.4 0.28347 11 0.18585 3 9.6 227 53
0.1 15 0.4 0.07184 9 0.05326 0 8.7 312 35
0.1 15 1.13 0.13313 10 0.08538 1 9.3 359 56
0.1 15 2.4 0.19458 11 0.09606 1 9.7 376 103";

/// A row of either table.
pub(super) struct Row {
    /// λ and K.
    pub(super) fetch_rate: f64,
    pub(super) buffer: u32,
    /// γ as printed, and what it stands for: 1.13 is γ(K) = (K + 2)/K = 17/15, cut short.
    pub(super) weight: f64,
    pub(super) exact_weight: f64,
    pub(super) label: String,
    /// The numbers after γ.
    pub(super) printed: Vec<Printed>,
}

pub(super) fn rows(text: &str) -> impl Iterator<Item = Row> {
    text.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let weight: f64 = words.get(2)?.parse().ok()?;
        Some(Row {
            fetch_rate: words[0].parse().ok()?,
            buffer: words[1].parse().ok()?,
            weight,
            exact_weight: if words[2] == "1.13" { 17.0 / 15.0 } else { weight },
            label: format!(
                "λ = {}, K = {}, γ = {}{}",
                words[0],
                words[1],
                words[2],
                if words[2] == "1.13" { " for C_s, 17/15 for the rest" } else { "" }
            ),
            printed: words[3..].iter().map(|&word| Printed::new(word)).collect(),
        })
    })
}

impl Row {
    /// For the fixed number, which is calculated with γ as printed.
    pub(super) fn setting(&self) -> Result<Setting, LabError> {
        Ok(Setting::new(self.fetch_rate, 1.0, self.buffer, self.weight)?)
    }

    /// For the rest.
    pub(super) fn exact_setting(&self) -> Result<Setting, LabError> {
        Ok(Setting::new(self.fetch_rate, 1.0, self.buffer, self.exact_weight)?)
    }

    /// Returns a printed number beside ours, and for which γ it is where there are two.
    pub(super) fn compare(&self, at: usize, ours: f64) -> Comparison {
        let own = Comparison::number(&self.printed[at], ours);
        if self.weight == self.exact_weight {
            return own;
        }
        own.note(match at {
            0 => "for γ = 1.13",
            // The improvement comes last.
            at if at + 1 == self.printed.len() => "C_s for γ = 1.13, C_d for γ = 17/15",
            _ => "for γ = 17/15",
        })
    }
}

/// 100 (C_s − C_d)/C_d from costs as they are printed, to five decimals.
pub(super) fn improvement(fixed: f64, dynamic: f64) -> f64 {
    let printed = |cost: f64| (cost * 1e5).round();
    100.0 * (printed(fixed) - printed(dynamic)) / printed(dynamic)
}

/// Explanation of the rows that print γ = 1.13.
pub(super) fn about_113() -> Result<String, LabError> {
    let cost = |weight: f64| -> Result<f64, LabError> {
        Ok(best_fixed(&Setting::new(0.05, 1.0, 15, weight)?, None)?.cost)
    };
    Ok(format!(
        "Where γ = 1.13 is printed, C_s is that of 1.13 ({:.6}; 17/15 would give {:.6}), and the \
         rest is that of γ(K) = 17/15. The improvement is taken from the costs to five decimals.",
        cost(1.13)?,
        cost(17.0 / 15.0)?
    ))
}

fn run() -> Result<Outcome, LabError> {
    let columns = ["C_s", "N_s", "C_d", "N_min", "N̄", "N_iter", "better by %"];
    let mut table = Table::new("", "setting", &columns);
    let mut optima = Table::list("The optimum, beside the printed C_d").of_theory();
    for row in rows(ROWS) {
        let fixed = best_fixed(&row.setting()?, None)?;
        let setting = row.exact_setting()?;
        let fetchers = best_fixed(&setting, None)?.fetchers;
        let available = fetchers as u32;
        let iterated = value_iteration(&setting, available, &Iteration::default())?;
        let dynamic = solve(&setting, Some(available))?;
        let (cost, measures) = (dynamic.measures.cost, dynamic.measures);
        let printed = row.printed[2].value();
        optima = optima.with(
            &format!("{}: C_d, optimum", row.label),
            Comparison::shape(
                &format!("within 5e-5 of {}", row.printed[2].text()),
                cost,
                (printed - 5e-5)..=(printed + 5e-5),
            )
            .found_as(&format!("{cost:.7}")),
        );
        table.push(
            &row.label,
            [
                Some(row.compare(0, fixed.cost)),
                Some(row.compare(1, fetchers as f64)),
                Some(row.compare(2, iterated.cost)),
                Some(row.compare(3, f64::from(measures.min_active))),
                Some(row.compare(4, measures.mean_active)),
                // Counted as the tables count: one more than the figures do.
                Some(row.compare(5, f64::from(iterated.iterations) + 1.0)),
                Some(row.compare(6, improvement(fixed.cost, iterated.cost))),
            ],
        );
    }
    Ok(Outcome::new([table, optima]).note(&format!(
        "C_d as in the paper: relative value iteration (Prop. 6) from h = 0 with reference state \
         (1, 1, 1), τ = 0.99999, until no value changes by more than 1e-5 of itself. The printed \
         C_d carry the error of stopping; the optimum beside them is proved. N_iter counts one more \
         than the captions of Figs 1.5 to 1.7 do. {}",
        about_113()?
    )))
}
