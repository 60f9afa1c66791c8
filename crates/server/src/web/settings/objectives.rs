//! Objectives, each with a computed example.

use freshet_model::PerDay;
use freshet_plan::{Objective, Options, Sources, solve};

use crate::web::format;

/// Pages of the example: name and changes per day. All have the same importance.
const EXAMPLE_PAGES: [(&str, f64); 3] = [
    ("a ticker that changes every minute", 1440.0),
    ("a page that changes every day", 1.0),
    ("terms that change once a year", 1.0 / 365.0),
];
/// Fetches per day for all pages.
const EXAMPLE_BUDGET: f64 = 12.0;

/// An objective to choose from.
pub(super) struct ObjectiveChoice {
    pub(super) name: &'static str,
    pub(super) is_chosen: bool,
    pub(super) description: &'static str,
    pub(super) when_to_use: &'static str,
    pub(super) example: String,
}

/// Returns all objectives, with the current one marked.
pub(super) fn objective_choices(current: &str) -> Vec<ObjectiveChoice> {
    let name = current.split_whitespace().next().unwrap_or_default();
    let all = [
        (
            "harmonic",
            "A copy costs 1 for the first change it misses, 1/2 for the second, 1/3 for the third, and so on.",
            "Use it if every change matters and no source may be neglected.",
            example(Objective::Harmonic),
        ),
        (
            "freshness",
            "A copy costs 1 while it is outdated. Pages that are outdated again at once are not fetched.",
            "Use it if only an up-to-date copy is useful.",
            example(Objective::Freshness),
        ),
        (
            "age",
            "A copy costs the time since the first change it misses.",
            "Use it if the cost of a copy grows with its delay.",
            example(Objective::Age),
        ),
        (
            "capture",
            "Changes count if they are seen in time. Content that disappears before it is fetched is lost.",
            "Use it to collect content that sources publish and remove, such as offers or logs.",
            "A list that keeps its latest entries (“append”) can be fetched less often than a page that is \
             overwritten (“overwrite”)."
                .to_owned(),
        ),
    ];
    let each =
        all.into_iter().map(|(objective, description, when_to_use, example)| ObjectiveChoice {
            name: objective,
            is_chosen: objective == name,
            description,
            when_to_use,
            example,
        });
    each.collect()
}

/// Describes how often the pages of the example are fetched.
fn example(objective: Objective) -> String {
    let rates: Vec<f64> = EXAMPLE_PAGES.iter().map(|(_, rate)| *rate).collect();
    let options = Options { objective, ..Options::default() };
    let plan = Sources::new(&[1.0; EXAMPLE_PAGES.len()], &rates)
        .ok()
        .and_then(|sources| solve(&sources, PerDay::new(EXAMPLE_BUDGET).ok()?, &options).ok());
    let Some(plan) = plan else { return String::new() };
    let each = EXAMPLE_PAGES.iter().zip(&plan.rates).map(|((name, _), rate)| {
        let often = if *rate > 0.0 { format::interval(*rate) } else { "never".to_owned() };
        format!("{name}: {often}")
    });
    format!("With {EXAMPLE_BUDGET} fetches per day: {}.", each.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_differ_by_objective() {
        let all = objective_choices("capture append decay:2d");
        let chosen: Vec<_> = all.iter().filter(|it| it.is_chosen).map(|it| it.name).collect();
        assert_eq!(chosen, ["capture"]);
        // Cho & Garcia-Molina 2003: a page that is outdated at once is not worth a fetch.
        assert!(
            all[1].example.contains("ticker that changes every minute: never"),
            "{}",
            all[1].example
        );
        assert!(!all[0].example.contains("never") && !all[2].example.contains("never"));
    }
}
