//! The summary at the top of the overview: how fresh the copies are, what limits them, what to do.

use freshet_daemon::Millis;

use crate::web::format;

/// Until the daemon has run this long, the fetches of the last day do not show whether the budget is used.
const DAY: Millis = 86_400_000;

/// Fetches per source before its change rate estimate is more than a guess.
const MIN_FETCHES_PER_SOURCE: f64 = 5.0;

/// Above this share of sources that cannot be fetched, they are the main limit.
const UNFETCHABLE_SHARE: f64 = 0.05;
/// A smaller gain in freshness is negligible.
const MIN_FRESHNESS_GAIN: f64 = 0.005;

/// Numbers that the summary is derived from.
pub(super) struct SummaryInputs {
    /// Fetches per day.
    pub(super) budget: f64,
    /// Fetches of the last 24 hours.
    pub(super) spent: f64,
    /// Expected share of fresh copies; `None` if there are no copies.
    pub(super) freshness: Option<f64>,
    /// Long-run freshness at the current budget.
    pub(super) long_run_freshness: Option<f64>,
    /// Long-run freshness at twice the budget.
    pub(super) doubled_budget_freshness: Option<f64>,
    /// True if the budget covers all fetches worth making.
    pub(super) is_enough: bool,
    /// Milliseconds since the daemon started.
    pub(super) uptime: Millis,
    /// Mean number of answered fetches per source.
    pub(super) fetches_per_source: f64,
    /// Hosts whose rate limit allows fewer fetches than are worth making.
    pub(super) saturated_hosts: u64,
    pub(super) store_error: Option<String>,
    pub(super) sources: u64,
    /// Sources whose last fetch failed, was refused or found them gone.
    pub(super) unfetchable: u64,
    /// Number of items under "Needs attention".
    pub(super) attention_items: usize,
}

impl SummaryInputs {
    /// True if less than half of the budget of the last day was used.
    pub(super) fn is_unspent(&self) -> bool {
        self.uptime >= DAY && self.spent < 0.5 * self.budget
    }
}

/// The summary in a few sentences.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) headline: String,
    /// `good`, `warn` or `bad`.
    pub(super) tone: &'static str,
    pub(super) limit: String,
    pub(super) advice: String,
    /// Address and text of the link behind the advice.
    pub(super) link: Option<(&'static str, &'static str)>,
}

impl Summary {
    pub(super) fn from_inputs(inputs: &SummaryInputs) -> Self {
        let (headline, tone) = headline(inputs);
        let (limit, advice, link) = limit(inputs);
        Self { headline, tone, limit, advice, link }
    }
}

fn headline(inputs: &SummaryInputs) -> (String, &'static str) {
    if inputs.store_error.is_some() {
        return ("freshet has stopped: the database cannot be written".to_owned(), "bad");
    }
    let Some(freshness) = inputs.freshness else {
        return ("No copies yet".to_owned(), "warn");
    };
    let text = format!("{} of your copies are fresh", format::rounded_percent(freshness));
    // Compares the share as it is displayed: what reads as 50% is not less than half.
    let tone = match (100.0 * freshness).round() / 100.0 {
        0.8.. => "good",
        0.5.. => "warn",
        _ => "bad",
    };
    (text, tone)
}

type Limit = (String, String, Option<(&'static str, &'static str)>);

fn limit(inputs: &SummaryInputs) -> Limit {
    if let Some(store_error) = &inputs.store_error {
        return (
            format!("Writing to the database fails: {store_error}. Fetching is suspended."),
            "Free some disk space or repair the disk. freshet resumes by itself.".to_owned(),
            None,
        );
    }
    if inputs.budget <= 0.0 {
        let limit = "The budget is 0, so nothing is fetched.".to_owned();
        return (limit, "Set a number of fetches per day.".to_owned(), budget_link());
    }
    if inputs.freshness.is_none() {
        let limit = "The first fetches are in progress.".to_owned();
        let advice = "Results appear here as they arrive.".to_owned();
        return (limit, advice, Some(("/sources", "View sources")));
    }
    let budget = format::count(inputs.budget.round() as u64);
    let hosts = format::plural(inputs.saturated_hosts, "host", "hosts");
    if inputs.unfetchable as f64 > UNFETCHABLE_SHARE * inputs.sources as f64 {
        return unfetchable_limit(inputs);
    }
    if inputs.saturated_hosts > 0 && (inputs.is_unspent() || inputs.is_enough) {
        return (
            format!(
                "Freshness is limited by the rate limits of {hosts}, which allow fewer fetches than \
                 are worth making."
            ),
            "More budget would not help. If a host is yours, allow more frequent requests to it."
                .to_owned(),
            Some(("/hosts", "View hosts")),
        );
    }
    if inputs.is_enough {
        return (
            format!("The budget of {budget} fetches per day covers every fetch worth making."),
            "No action needed. A smaller budget would do.".to_owned(),
            budget_link(),
        );
    }
    let learning = if inputs.fetches_per_source < MIN_FETCHES_PER_SOURCE {
        " Change rates are still being learned, so these numbers will shift."
    } else {
        ""
    };
    let saturated = match inputs.saturated_hosts {
        0 => String::new(),
        1 => " 1 host is saturated.".to_owned(),
        _ => format!(" {hosts} are saturated."),
    };
    if let (Some(now), Some(doubled)) = (inputs.long_run_freshness, inputs.doubled_budget_freshness)
        && doubled - now < MIN_FRESHNESS_GAIN
    {
        let limit = format!(
            "The budget is sufficient: {budget} fetches per day keep {} of the copies fresh in the \
             long run, and doubling it would hardly help.{saturated}{learning}",
            format::rounded_percent(now)
        );
        let advice = match inputs.attention_items {
            0 if learning.is_empty() => "No action needed. A smaller budget would do.",
            0 => "No action needed.",
            _ => "See below what needs attention.",
        };
        return (limit, advice.to_owned(), budget_link());
    }
    let forecast = match (inputs.long_run_freshness, inputs.doubled_budget_freshness) {
        (Some(now), Some(doubled)) => format!(
            " In the long run it keeps {} fresh; doubling it would keep {} fresh.",
            format::rounded_percent(now),
            format::rounded_percent(doubled)
        ),
        _ => String::new(),
    };
    let advice = match inputs.attention_items {
        0 => "",
        _ => "First see below what needs attention.",
    };
    let limit = format!(
        "Freshness is limited by the budget of {budget} fetches per day.{forecast}{saturated}{learning}"
    );
    (limit, advice.to_owned(), budget_link())
}

/// The limit if so many sources cannot be fetched that no budget compensates for it.
fn unfetchable_limit(inputs: &SummaryInputs) -> Limit {
    let gain = inputs
        .long_run_freshness
        .zip(inputs.doubled_budget_freshness)
        .map(|(now, doubled)| doubled - now);
    let others = match gain {
        Some(gain) if !inputs.is_enough && gain >= MIN_FRESHNESS_GAIN => format!(
            " The other sources are limited by the budget of {} fetches per day.",
            format::count(inputs.budget.round() as u64)
        ),
        _ => String::new(),
    };
    let limit = format!(
        "{} of {} cannot be fetched: they fail, are gone, or robots.txt disallows them. More budget \
         would not help these.{others}",
        format::count(inputs.unfetchable),
        format::plural(inputs.sources, "source", "sources")
    );
    let advice = match inputs.attention_items {
        0 => "They are retried. Sources that keep failing are listed below.",
        _ => "Fix or remove the sources listed below.",
    };
    (limit, advice.to_owned(), Some(("#needs", "Needs attention")))
}

fn budget_link() -> Option<(&'static str, &'static str)> {
    Some(("/what-if", "Try another budget"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs() -> SummaryInputs {
        SummaryInputs {
            budget: 500.0,
            spent: 500.0,
            freshness: Some(0.6),
            long_run_freshness: Some(0.62),
            doubled_budget_freshness: Some(0.75),
            is_enough: false,
            uptime: 2 * DAY,
            fetches_per_source: 20.0,
            saturated_hosts: 0,
            store_error: None,
            sources: 100,
            unfetchable: 0,
            attention_items: 0,
        }
    }

    fn check(inputs: &SummaryInputs, headline: &str, limit: &str) {
        let summary = Summary::from_inputs(inputs);
        assert!(summary.headline.contains(headline), "{summary:?}");
        assert!(summary.limit.contains(limit), "{summary:?}");
    }

    #[test]
    fn the_summary_names_the_main_limit() {
        check(&inputs(), "60% of your copies are fresh", "limited by the budget of 500");
        check(&inputs(), "", "doubling it would keep 75% fresh");
        let idle = SummaryInputs { saturated_hosts: 2, spent: 100.0, ..inputs() };
        check(&idle, "", "limited by the rate limits of 2 hosts");
        let enough = SummaryInputs { saturated_hosts: 1, is_enough: true, ..inputs() };
        check(&enough, "", "rate limits of 1 host,");
        check(&SummaryInputs { saturated_hosts: 1, ..inputs() }, "", "1 host is saturated");
        let fresh = SummaryInputs { is_enough: true, freshness: Some(0.99), ..inputs() };
        check(&fresh, "99% of your copies", "covers every fetch");
        check(&SummaryInputs { fetches_per_source: 1.0, ..inputs() }, "", "still being learned");
        let unfetchable = SummaryInputs { unfetchable: 6, ..inputs() };
        check(&unfetchable, "", "6 of 100 sources cannot be fetched");
        check(&unfetchable, "", "other sources are limited by the budget of 500");
        check(&SummaryInputs { unfetchable: 5, ..inputs() }, "", "limited by the budget");
        let flat = SummaryInputs { doubled_budget_freshness: Some(0.62), ..inputs() };
        check(&flat, "", "The budget is sufficient");
        check(&SummaryInputs { budget: 0.0, ..inputs() }, "", "The budget is 0");
        let full_disk = SummaryInputs { store_error: Some("disk full".into()), ..inputs() };
        check(&full_disk, "has stopped", "disk full");
        check(&SummaryInputs { freshness: None, ..inputs() }, "No copies yet", "in progress");
    }

    #[test]
    fn the_tone_follows_the_displayed_share() {
        for (freshness, tone) in [(0.4951, "warn"), (0.494, "bad"), (0.796, "good"), (0.7, "warn")]
        {
            let summary =
                Summary::from_inputs(&SummaryInputs { freshness: Some(freshness), ..inputs() });
            assert_eq!(summary.tone, tone, "{freshness}");
        }
    }
}
