//! A signal source in words.

use freshet_daemon::{Millis, SignalSourceReport, SignalSourceState};
use freshet_model::moment;
use freshet_store::{
    SignalSource as StoredSignalSource, SignalSourceKind, SignalSourceOrigin, SourceState,
};

use crate::signal_source::SignalSourceView;
use crate::web::words;

/// In the table.
pub(super) struct Row {
    pub(super) number: u32,
    pub(super) name: String,
    pub(super) kind: &'static str,
    /// How it is known, and what it consists of.
    pub(super) origin: String,
    pub(super) precision: String,
    pub(super) proved: String,
    pub(super) recall: String,
    pub(super) missed: String,
    pub(super) delay: String,
    pub(super) every: String,
    pub(super) share: String,
    pub(super) brought: String,
    pub(super) said: String,
    pub(super) state: String,
    pub(super) tone: &'static str,
    /// What there is to say of that: why nothing was read, or when.
    pub(super) about: String,
    pub(super) defects: String,
}

/// On its own page.
pub(super) struct Shown {
    pub(super) row: Row,
    /// Where it leads, if that is for browsers.
    pub(super) link: Option<String>,
    pub(super) parent: Option<(u32, String)>,
    pub(super) is_read: bool,
    pub(super) is_paused: bool,
    /// Whether it can be removed by itself; if not, why.
    pub(super) stays: Option<&'static str>,
    pub(super) has_parts: bool,
    /// The source whose fetches are its reads.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) last: Vec<(&'static str, String)>,
    pub(super) defects: Vec<(String, &'static str, String)>,
    pub(super) rule: Vec<(&'static str, String)>,
    /// In a sentence or two: how far it is to be believed, and what it is worth.
    pub(super) verdict: String,
}

fn or_dash<T>(value: Option<T>, words: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), words)
}

/// A share that needs no decimals.
fn round(share: f64) -> String {
    let text = format!("{:.0} %", 100.0 * share);
    if text == "100 %" && share < 0.999 { "99 %".to_owned() } else { text }
}

fn share(report: &SignalSourceReport, budget: f64) -> String {
    match report.spent / budget {
        _ if report.spent <= 0.0 => "none".to_owned(),
        share if !share.is_finite() => "–".to_owned(),
        share if share < 0.001 => "under 0.1 %".to_owned(),
        share if share < 1.0 => words::percent(share),
        // By hand it can be read more often than the budget pays for.
        share => format!("{} %", words::count((100.0 * share) as u64)),
    }
}

fn defects(it: &SignalSourceState) -> String {
    let each = it.last.iter().flat_map(|it| &it.defects);
    let each: Vec<String> = each.map(|(name, times)| format!("{name} × {times}")).collect();
    match each.len() {
        0..=4 => each.join(", "),
        all => format!("{} and {} more", each[..3].join(", "), all - 3),
    }
}

/// How the last read went, in a word, as good or bad, and what there is to say of it.
fn state(it: &SignalSourceState, now: Millis) -> (String, &'static str, String) {
    let Some(source) = &it.source else {
        let heard = moment::last(it.herald.last_signal_at, now);
        return ("speaks by itself".to_owned(), "", format!("last {heard}"));
    };
    let at = moment::last(source.attempted_at, now);
    if source.paused {
        return ("paused".to_owned(), "warn", format!("last read {at}"));
    }
    let Some(last) = &it.last else {
        return ("not read yet".to_owned(), "", "it is, as soon as the budget allows".to_owned());
    };
    let failures = match source.failures {
        0 | 1 => String::new(),
        some => format!(", {some} times in a row"),
    };
    match last.outcome.as_str() {
        "read" if last.over > 0 => {
            let over = words::plural(last.over, "page", "pages");
            ("read".to_owned(), "warn", format!("{at}; {over} not added: its limit is reached"))
        }
        "read" if last.parts > 0 && last.pages == 0 => {
            let parts = words::plural(last.parts, "part", "parts");
            ("read".to_owned(), "good", format!("{at}: an index of {parts}"))
        }
        "read" => {
            let pages = words::plural(last.pages, "page", "pages");
            let said = words::plural(last.signals, "signal", "signals");
            ("read".to_owned(), "good", format!("{at}: {pages}, {said}"))
        }
        outcome => {
            let tone = if source.state == SourceState::Disallowed { "warn" } else { "bad" };
            let words = last.words();
            let why = words.strip_prefix(&format!("{outcome}: ")).unwrap_or(&words);
            (outcome.to_owned(), tone, format!("{at}{failures}: {why}"))
        }
    }
}

impl Row {
    pub(super) fn of(it: &SignalSourceState, budget: f64, now: Millis) -> Self {
        let report = it.report.unwrap_or_default();
        let (state, tone, about) = state(it, now);
        let parts = match it.parts {
            0 => String::new(),
            parts => format!(", {}", words::plural(parts, "part", "parts")),
        };
        Self {
            number: it.herald.id,
            name: it.herald.name.clone(),
            kind: kind(it.herald.kind),
            origin: format!("{}{parts}", SignalSourceView::origin(it.herald.origin)),
            precision: or_dash(report.precision, round),
            proved: match report.tried {
                0 => String::new(),
                tried => {
                    format!("{} of {} fetches", words::count(report.proved), words::count(tried))
                }
            },
            recall: or_dash(report.recall, round),
            missed: match (report.recall, report.missed) {
                (None, _) => String::new(),
                (_, 0) => "missed none".to_owned(),
                (_, missed) => format!("missed {}", words::count(missed)),
            },
            delay: or_dash(report.delay, words::days),
            every: match (&it.source, report.read_every) {
                (None, _) => "not read".to_owned(),
                (_, every) => or_dash(every, words::days),
            },
            share: share(&report, budget),
            brought: match report.brought {
                0.0 => "–".to_owned(),
                some => words::figure(some),
            },
            said: words::plural(report.signals, "signal", "signals"),
            state,
            tone,
            about,
            defects: defects(it),
        }
    }
}

/// What it is, for people.
fn kind(kind: SignalSourceKind) -> &'static str {
    match kind {
        SignalSourceKind::Sitemap => "Sitemap",
        SignalSourceKind::Feed => "Feed",
        SignalSourceKind::WebSub => "Hub (WebSub)",
        SignalSourceKind::IndexNow => "IndexNow",
        SignalSourceKind::Api => "Program",
        SignalSourceKind::Head => "Headers",
    }
}

impl Shown {
    pub(super) fn of(
        it: &SignalSourceState,
        parent: Option<StoredSignalSource>,
        budget: f64,
        now: Millis,
    ) -> Self {
        let report = it.report.unwrap_or_default();
        let row = Row::of(it, budget, now);
        let url = &it.herald.name;
        let is_of_the_web = url.starts_with("https://") || url.starts_with("http://");
        Self {
            link: is_of_the_web.then(|| url.clone()),
            parent: parent.map(|it| (it.id, it.name)),
            is_read: it.source.is_some(),
            is_paused: it.source.as_ref().is_some_and(|it| it.paused),
            stays: match it.herald.origin {
                SignalSourceOrigin::Config => {
                    Some("freshet.toml names it: take it out there, and reload.")
                }
                SignalSourceOrigin::Robots => Some(
                    "A robots.txt names it, so it would come back: pause it, or set robots = false \
                     under [signals].",
                ),
                SignalSourceOrigin::Parent => {
                    Some("It comes and goes with the index that it is a part of.")
                }
                SignalSourceOrigin::Owner | SignalSourceOrigin::Push => None,
            },
            has_parts: it.parts > 0,
            facts: facts(it, &report, &row, now),
            last: last(it, now),
            defects: it
                .last
                .iter()
                .flat_map(|it| &it.defects)
                .map(|(name, times)| (name.clone(), about(name), words::count(*times)))
                .collect(),
            rule: rule(it),
            verdict: verdict(&report),
            row,
        }
    }
}

/// What a defect means.
fn about(name: &str) -> &'static str {
    freshet_daemon::defect_about(name).unwrap_or_default()
}

fn verdict(it: &SignalSourceReport) -> String {
    let (Some(precision), Some(recall)) = (it.precision, it.recall) else {
        return match it.signals {
            0 => "It has said nothing yet, so nothing is known of how true it is.".to_owned(),
            some => format!(
                "It has given {}; how true they are is learnt from the fetches that come after \
                 them.",
                words::plural(some, "signal", "signals")
            ),
        };
    };
    format!(
        "When it says that a page has changed, that is so in {} of the cases. Of all changes, it tells \
         of {}.",
        round(precision),
        round(recall)
    )
}

/// A figure, and what there is to say of it.
fn with(figure: &str, more: &str) -> String {
    if more.is_empty() { "not known yet".to_owned() } else { format!("{figure} ({more})") }
}

fn facts(
    it: &SignalSourceState,
    report: &SignalSourceReport,
    row: &Row,
    now: Millis,
) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        (
            "Signals",
            format!("{}, {} late", words::count(report.signals), words::count(report.late)),
        ),
        ("About", words::plural(u64::from(report.sources), "source", "sources")),
        ("True", with(&row.precision, &row.proved)),
        ("Tells of", with(&row.recall, &row.missed)),
        ("After the change", row.delay.clone()),
        ("Brought", row.brought.clone()),
    ];
    if let Some(source) = &it.source {
        facts.push(("Reads", words::count(report.reads)));
        facts.push(("Read every", row.every.clone()));
        facts.push(("Share of the budget", row.share.clone()));
        facts.push(("Worth of a read", words::maybe(report.worth)));
        let next = match (source.paused, source.due_at) {
            (true, _) => "paused".to_owned(),
            (_, due) => moment::next(due, now),
        };
        facts.push(("Next read", next));
    }
    if it.herald.sources_added > 0 {
        facts.push(("Pages found", words::count(it.herald.sources_added)));
    }
    facts
}

fn last(it: &SignalSourceState, now: Millis) -> Vec<(&'static str, String)> {
    let (Some(source), Some(last)) = (&it.source, &it.last) else { return Vec::new() };
    let mut facts = vec![
        ("When", moment::last(source.attempted_at, now)),
        ("Outcome", if last.outcome == "read" { last.format.clone() } else { last.words() }),
        ("Pages", format!("{}, {} known", words::count(last.pages), words::count(last.known))),
        ("Said to have changed", words::count(last.signals)),
    ];
    let more = [
        ("Parts", last.parts),
        ("Added", last.found),
        ("Over its limit", last.over),
        ("Not its to speak of", last.elsewhere),
    ];
    facts.extend(more.into_iter().filter(|it| it.1 > 0).map(|(name, n)| (name, words::count(n))));
    if !last.hubs.is_empty() {
        facts.push(("Hubs", last.hubs.join(", ")));
    }
    facts
}

fn rule(it: &SignalSourceState) -> Vec<(&'static str, String)> {
    let rule = &it.rule;
    if !rule.discover {
        return Vec::new();
    }
    let or = |list: &[String], none: &str| match list {
        [] => none.to_owned(),
        some => some.join(", "),
    };
    vec![
        ("Only", or(&rule.include, "all")),
        ("Not", or(&rule.exclude, "none")),
        (
            "At most",
            format!(
                "{}, {} so far",
                words::count(rule.most),
                words::count(it.herald.sources_added)
            ),
        ),
        ("Tags", or(&rule.tags, "none")),
        ("Other hosts", if rule.other_hosts { "too" } else { "no" }.to_owned()),
    ]
}
