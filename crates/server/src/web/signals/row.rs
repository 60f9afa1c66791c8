//! Signal sources, formatted for pages.

use freshet_daemon::{Millis, SignalSourceReport, SignalSourceState};
use freshet_model::time_format;
use freshet_store::{
    SignalSource as StoredSignalSource, SignalSourceKind, SignalSourceOrigin, SourceState,
};

use crate::web::format;

/// Figures of the plan that signal sources are compared with.
#[derive(Clone, Copy)]
pub(super) struct PlanFigures {
    /// Fetches per day.
    pub(super) budget: f64,
    /// Price of a fetch.
    pub(super) price: f64,
}

/// A signal source in the table.
pub(super) struct SignalSourceRow {
    pub(super) number: u32,
    pub(super) name: String,
    pub(super) kind: &'static str,
    /// How it became known, and number of child sitemaps.
    pub(super) origin: String,
    pub(super) precision: String,
    pub(super) confirmed: String,
    pub(super) recall: String,
    pub(super) missed: String,
    pub(super) delay: String,
    pub(super) every: String,
    pub(super) share: String,
    pub(super) signals: String,
    pub(super) state: String,
    pub(super) tone: &'static str,
    /// Explanation of the state.
    pub(super) detail: String,
    pub(super) defects: String,
}

/// A signal source on its own page.
pub(super) struct SignalSourceDetails {
    pub(super) row: SignalSourceRow,
    /// Its URL, if a browser can open it.
    pub(super) link: Option<String>,
    pub(super) parent: Option<(u32, String)>,
    pub(super) is_read: bool,
    pub(super) is_paused: bool,
    /// Reason why it cannot be removed; `None` if it can.
    pub(super) not_removable: Option<&'static str>,
    pub(super) has_parts: bool,
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) last_read: Vec<(&'static str, String)>,
    pub(super) defects: Vec<(String, &'static str, String)>,
    pub(super) rule: Vec<(&'static str, String)>,
    /// Raw figures, shown on demand.
    pub(super) details: String,
    /// Accuracy in a sentence.
    pub(super) summary: String,
}

fn value_or_dash<T>(value: Option<T>, words: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), words)
}

/// Formats a share without decimals.
fn whole_percent(share: f64) -> String {
    let text = format!("{:.0}%", 100.0 * share);
    if text == "100%" && share < 0.999 { "99%".to_owned() } else { text }
}

fn budget_share(report: &SignalSourceReport, budget: f64) -> String {
    match report.cost_per_day / budget {
        _ if report.cost_per_day <= 0.0 => "none".to_owned(),
        share if !share.is_finite() => "–".to_owned(),
        share if share < 0.001 => "under 0.1%".to_owned(),
        share if share < 1.0 => format::percent(share),
        // Requested fetches are not limited by the budget.
        share => format!("{}%", format::count((100.0 * share) as u64)),
    }
}

fn defect_list(signal_source: &SignalSourceState) -> String {
    let each = signal_source.last_read.iter().flat_map(|it| &it.defects);
    let each: Vec<String> = each.map(|(name, times)| format!("{name} × {times}")).collect();
    match each.len() {
        0..=4 => each.join(", "),
        all => format!("{} and {} more", each[..3].join(", "), all - 3),
    }
}

/// Returns the state of the last fetch: label, tone and explanation.
fn last_read_state(
    signal_source: &SignalSourceState,
    now: Millis,
) -> (String, &'static str, String) {
    let Some(source) = &signal_source.source else {
        let signaled = time_format::format_last(signal_source.signal_source.last_signal_at, now);
        return ("push".to_owned(), "", format!("last signal {signaled}"));
    };
    let at = time_format::format_last(source.attempted_at, now);
    if source.paused {
        return ("paused".to_owned(), "warn", format!("last fetched {at}"));
    }
    let Some(last) = &signal_source.last_read else {
        return ("not fetched yet".to_owned(), "", "waiting for budget".to_owned());
    };
    let failures = match source.failures {
        0 | 1 => String::new(),
        some => format!(", {some} consecutive failures"),
    };
    match last.outcome.as_str() {
        "read" if last.over > 0 => {
            let over = format::plural(last.over, "URL", "URLs");
            ("fetched".to_owned(), "warn", format!("{at}; {over} not added: limit reached"))
        }
        "read" if last.parts > 0 && last.pages == 0 => {
            let parts = format::plural(last.parts, "child sitemap", "child sitemaps");
            ("fetched".to_owned(), "good", format!("{at}: index of {parts}"))
        }
        "read" => {
            let pages = format::plural(last.pages, "URL", "URLs");
            let signals = format::plural(last.signals, "signal", "signals");
            ("fetched".to_owned(), "good", format!("{at}: {pages}, {signals}"))
        }
        outcome => {
            let tone = if source.state == SourceState::Disallowed { "warn" } else { "bad" };
            let words = last.describe();
            let error = words.strip_prefix(&format!("{outcome}: ")).unwrap_or(&words);
            (outcome.to_owned(), tone, format!("{at}{failures}: {error}"))
        }
    }
}

impl SignalSourceRow {
    pub(super) fn new(signal_source: &SignalSourceState, plan: PlanFigures, now: Millis) -> Self {
        let report = signal_source.report.unwrap_or_default();
        let (state, tone, detail) = last_read_state(signal_source, now);
        let parts = match signal_source.children {
            0 => String::new(),
            parts => format!(", {}", format::plural(parts, "child sitemap", "child sitemaps")),
        };
        Self {
            number: signal_source.signal_source.id,
            name: signal_source.signal_source.name.clone(),
            kind: kind_name(signal_source.signal_source.kind),
            origin: format!("{}{parts}", origin_label(signal_source.signal_source.origin)),
            precision: value_or_dash(report.precision, whole_percent),
            confirmed: match report.signalled_fetches {
                0 => String::new(),
                tried => {
                    format!(
                        "{} of {} fetches",
                        format::count(report.confirmed_fetches),
                        format::count(tried)
                    )
                }
            },
            recall: value_or_dash(report.recall, whole_percent),
            missed: match (report.recall, report.missed_changes) {
                (None, _) => String::new(),
                (_, 0) => "none missed".to_owned(),
                (_, missed) => format!("{} missed", format::count(missed)),
            },
            delay: value_or_dash(report.delay, format::duration),
            every: match (&signal_source.source, report.read_interval) {
                (None, _) => "push".to_owned(),
                (_, every) => value_or_dash(every, format::duration),
            },
            share: budget_share(&report, plan.budget),
            signals: format::plural(report.signals, "signal", "signals"),
            state,
            tone,
            detail,
            defects: defect_list(signal_source),
        }
    }
}

/// Describes how a signal source became known.
fn origin_label(origin: SignalSourceOrigin) -> &'static str {
    match origin {
        SignalSourceOrigin::Owner => "added manually",
        SignalSourceOrigin::Config => "from freshet.toml",
        SignalSourceOrigin::Robots => "from robots.txt",
        SignalSourceOrigin::Parent => "part of a sitemap index",
        SignalSourceOrigin::Push => "push",
    }
}

/// Name of a kind of signal source.
fn kind_name(kind: SignalSourceKind) -> &'static str {
    match kind {
        SignalSourceKind::Sitemap => "Sitemap",
        SignalSourceKind::Feed => "Feed",
        SignalSourceKind::WebSub => "Hub (WebSub)",
        SignalSourceKind::IndexNow => "IndexNow",
        SignalSourceKind::Api => "API client",
        SignalSourceKind::Head => "HTTP headers",
    }
}

impl SignalSourceDetails {
    pub(super) fn new(
        signal_source: &SignalSourceState,
        parent: Option<StoredSignalSource>,
        plan: PlanFigures,
        now: Millis,
    ) -> Self {
        let report = signal_source.report.unwrap_or_default();
        let row = SignalSourceRow::new(signal_source, plan, now);
        let url = &signal_source.signal_source.name;
        let is_http = url.starts_with("https://") || url.starts_with("http://");
        Self {
            link: is_http.then(|| url.clone()),
            parent: parent.map(|it| (it.id, it.name)),
            is_read: signal_source.source.is_some(),
            is_paused: signal_source.source.as_ref().is_some_and(|it| it.paused),
            not_removable: match signal_source.signal_source.origin {
                SignalSourceOrigin::Config => {
                    Some("It is configured in freshet.toml. Remove it there and reload.")
                }
                SignalSourceOrigin::Robots => Some(
                    "It is listed in robots.txt and would be added again. Pause it, or set robots = false \
                     under [signals].",
                ),
                SignalSourceOrigin::Parent => {
                    Some("It belongs to a sitemap index and is removed with it.")
                }
                SignalSourceOrigin::Owner | SignalSourceOrigin::Push => None,
            },
            has_parts: signal_source.children > 0,
            facts: summary_facts(signal_source, &report, &row, plan, now),
            last_read: last_read_facts(signal_source, now),
            defects: signal_source
                .last_read
                .iter()
                .flat_map(|it| &it.defects)
                .map(|(name, times)| {
                    (name.clone(), defect_description(name), format::count(*times))
                })
                .collect(),
            rule: discovery_rule_facts(signal_source),
            details: format!(
                "Gain: {}, the sum over the fetches it triggered of their value beyond the price of a \
                 fetch, in units of the objective.",
                format::number(report.gained_value)
            ),
            summary: accuracy_summary(&report),
            row,
        }
    }
}

/// Describes a problem of a document.
fn defect_description(name: &str) -> &'static str {
    freshet_daemon::defect_description(name).unwrap_or_default()
}

fn accuracy_summary(report: &SignalSourceReport) -> String {
    let (Some(precision), Some(recall)) = (report.precision, report.recall) else {
        return match report.signals {
            0 => "No signals yet, so its accuracy is unknown.".to_owned(),
            some => format!(
                "{} so far. Its accuracy is learned from the fetches that follow them.",
                format::plural(some, "signal", "signals")
            ),
        };
    };
    format!(
        "{} of its signals stand for a real change. It signals {} of all changes.",
        whole_percent(precision),
        whole_percent(recall)
    )
}

/// A figure with the counts behind it.
fn figure_with_counts(figure: &str, more: &str) -> String {
    if more.is_empty() { "unknown".to_owned() } else { format!("{figure} ({more})") }
}

fn summary_facts(
    signal_source: &SignalSourceState,
    report: &SignalSourceReport,
    row: &SignalSourceRow,
    plan: PlanFigures,
    now: Millis,
) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        (
            "Signals",
            format!(
                "{}, {} late",
                format::count(report.signals),
                format::count(report.late_signals)
            ),
        ),
        ("Covers", format::plural(u64::from(report.sources), "source", "sources")),
        ("Precision", figure_with_counts(&row.precision, &row.confirmed)),
        ("Recall", figure_with_counts(&row.recall, &row.missed)),
        ("Delay after the change", row.delay.clone()),
    ];
    if let Some(source) = &signal_source.source {
        facts.push(("Fetches", format::count(report.reads)));
        facts.push(("Fetch interval", row.every.clone()));
        facts.push(("Budget share", row.share.clone()));
        let value = report.read_value.filter(|_| plan.price > 0.0);
        let value =
            value.map(|it| format!("{} of the price", format::rounded_percent(it / plan.price)));
        facts.push(("Value of a fetch", value.unwrap_or_else(|| "–".to_owned())));
        let next = match (source.paused, source.due_at) {
            (true, _) => "paused".to_owned(),
            (_, due) => time_format::format_next(due, now),
        };
        facts.push(("Next fetch", next));
    }
    if signal_source.signal_source.sources_added > 0 {
        facts.push(("Sources added", format::count(signal_source.signal_source.sources_added)));
    }
    facts
}

fn last_read_facts(signal_source: &SignalSourceState, now: Millis) -> Vec<(&'static str, String)> {
    let (Some(source), Some(last)) = (&signal_source.source, &signal_source.last_read) else {
        return Vec::new();
    };
    let mut facts = vec![
        ("Time", time_format::format_last(source.attempted_at, now)),
        ("Outcome", if last.outcome == "read" { last.format.clone() } else { last.describe() }),
        (
            "URLs",
            format!("{}, {} are sources", format::count(last.pages), format::count(last.known)),
        ),
        ("Signals", format::count(last.signals)),
    ];
    let more = [
        ("Child sitemaps", last.parts),
        ("Sources added", last.found),
        ("Not added: limit reached", last.over),
        ("Ignored: other hosts", last.elsewhere),
    ];
    facts.extend(more.into_iter().filter(|it| it.1 > 0).map(|(name, n)| (name, format::count(n))));
    if !last.hubs.is_empty() {
        facts.push(("Hubs", last.hubs.join(", ")));
    }
    facts
}

fn discovery_rule_facts(signal_source: &SignalSourceState) -> Vec<(&'static str, String)> {
    let rule = &signal_source.rule;
    if !rule.discover {
        return Vec::new();
    }
    let or = |list: &[String], none: &str| match list {
        [] => none.to_owned(),
        some => some.join(", "),
    };
    vec![
        ("Include", or(&rule.include, "all")),
        ("Exclude", or(&rule.exclude, "none")),
        (
            "Maximum",
            format!(
                "{}, {} so far",
                format::count(rule.max_pages),
                format::count(signal_source.signal_source.sources_added)
            ),
        ),
        ("Tags", or(&rule.tags, "none")),
        ("Other hosts", if rule.other_hosts { "included" } else { "ignored" }.to_owned()),
    ]
}
