//! What copies can be good for, by example.

use freshet_model::PerDay;
use freshet_plan::{Objective, Options, Sources, solve};

use crate::web::words;

/// Pages of the example: names, and changes a day. All matter alike.
const PAGES: [(&str, f64); 3] = [
    ("a ticker that changes every minute", 1440.0),
    ("a page that changes every day", 1.0),
    ("terms that change once a year", 1.0 / 365.0),
];
/// Fetches a day for all of them.
const BUDGET: f64 = 12.0;

/// An objective that can be chosen.
pub(super) struct Choice {
    pub(super) name: &'static str,
    pub(super) is_chosen: bool,
    pub(super) says: &'static str,
    pub(super) choose: &'static str,
    pub(super) example: String,
}

/// All of them, and which holds.
pub(super) fn choices(holds: &str) -> Vec<Choice> {
    let name = holds.split_whitespace().next().unwrap_or_default();
    let all = [
        (
            "harmonic",
            "A copy costs 1 for the first change it misses, 1/2 for the second, 1/3 for the third …",
            "Choose it when every change counts and no source may be forgotten.",
            example(Objective::Harmonic),
        ),
        (
            "freshness",
            "A copy costs 1 while it is out of date. What is out of date again at once is given up.",
            "Choose it when only an up-to-date copy is of use.",
            example(Objective::Freshness),
        ),
        (
            "age",
            "A copy costs the time since the first change that it misses.",
            "Choose it when late is bad and later is worse.",
            example(Objective::Age),
        ),
        (
            "capture",
            "Changes that are seen in time count; what is gone before it is seen is lost.",
            "Choose it to collect what sources publish and take away again, such as offers or logs.",
            "A list that keeps its last entries (“append”) may wait longer than a page that is overwritten \
             (“overwrite”)."
                .to_owned(),
        ),
    ];
    let each = all.into_iter().map(|(objective, says, choose, example)| Choice {
        name: objective,
        is_chosen: objective == name,
        says,
        choose,
        example,
    });
    each.collect()
}

/// How often the pages of the example are fetched.
fn example(objective: Objective) -> String {
    let rates: Vec<f64> = PAGES.iter().map(|(_, rate)| *rate).collect();
    let options = Options { objective, ..Options::default() };
    let plan = Sources::new(&[1.0; PAGES.len()], &rates)
        .ok()
        .and_then(|sources| solve(&sources, PerDay::new(BUDGET).ok()?, &options).ok());
    let Some(plan) = plan else { return String::new() };
    let each = PAGES.iter().zip(&plan.rates).map(|((name, _), rate)| {
        let often = if *rate > 0.0 { words::every(*rate) } else { "never".to_owned() };
        format!("{name}: {often}")
    });
    format!("With {BUDGET} fetches a day, {}.", each.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_tell_the_objectives_apart() {
        let all = choices("capture append decay:2d");
        let chosen: Vec<_> = all.iter().filter(|it| it.is_chosen).map(|it| it.name).collect();
        assert_eq!(chosen, ["capture"]);
        // What Cho & Garcia-Molina 2003 show: a page that is out of date at once is not worth a fetch.
        assert!(
            all[1].example.contains("ticker that changes every minute: never"),
            "{}",
            all[1].example
        );
        assert!(!all[0].example.contains("never") && !all[2].example.contains("never"));
    }
}
