//! `freshet signals` and `freshet signals show`.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use freshet_daemon::{SignalSourceReport, SignalSourceState};
use freshet_server::SignalSourceView;
use freshet_store::{Reader, SignalSourceQuery};

use super::{OneArguments, budget, find, learn, now_of};
use crate::clock;
use crate::commands::instance::{ConfigArguments, Home};
use crate::failure::Failure;
use crate::number::{count, plural, significant};
use crate::output::{json_line, note, print_json, print_line, print_text};
use crate::terminal;
use crate::time_format::{from_now, last, length};

/// Signal sources that are looked up at once.
const PAGE: usize = 1000;

#[derive(Debug, Args)]
pub(super) struct ListArguments {
    /// Also the parts of indexes of sitemaps
    #[arg(long)]
    parts: bool,

    /// How many at most; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    limit: usize,

    /// Print them as JSON on standard output, one on a line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    config: ConfigArguments,
}

/// Show a signal source: how far it is true, what it costs and brings, what the last read gave
#[derive(Debug, Args)]
pub(super) struct ShowArguments {
    #[command(flatten)]
    one: OneArguments,

    /// Print it as JSON on standard output
    #[arg(long)]
    json: bool,
}

pub(super) fn list(arguments: &ListArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let Some(reader) = home.reader_if_any()? else {
        nothing(arguments.json);
        return Ok(ExitCode::SUCCESS);
    };
    let budget = budget(&home, &reader)?;
    let now = clock::millis();
    let mut left = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    let mut query =
        SignalSourceQuery { top_level_only: !arguments.parts, ..SignalSourceQuery::default() };
    let mut shown = 0;
    while left > 0 {
        query.limit = left.min(PAGE);
        let mut some = SignalSourceState::all(&reader, &query)?;
        let Some(end) = some.last() else { break };
        query.after = Some(end.herald.id);
        learn(&home, &reader, &mut some)?;
        (shown, left) = (shown + some.len(), left - some.len());
        if !arguments.json {
            print_text(&table(&some, budget, now, shown == some.len()))?;
            continue;
        }
        let lines = some.into_iter().map(|it| json_line(&SignalSourceView::of(it, budget)));
        if !print_line(&lines.collect::<Result<Vec<_>, _>>()?.join("\n"))? {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if shown == 0 {
        nothing(arguments.json);
    } else if !arguments.json {
        let (all, parts) = reader.count_signal_sources()?;
        let all = if arguments.parts { all } else { all - parts } as usize;
        let more = if shown < all { format!("{shown} of ") } else { String::new() };
        let hint = if shown < all { "; more with --limit 0" } else { "" };
        let hidden = match parts {
            parts if parts > 0 && !arguments.parts => {
                format!("; {} of indexes with --parts", plural(parts as usize, "part", "parts"))
            }
            _ => String::new(),
        };
        let all = plural(all, "signal source", "signal sources");
        note(&format!("{more}{all}{hint}{hidden}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn nothing(json: bool) {
    if !json {
        note(
            "no signal sources yet\n\nhint: add a sitemap with \
             `freshet signals add https://example.com/sitemap.xml`",
        );
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |it| format!("{:.0} %", 100.0 * it))
}

/// Days, as short as can be.
fn time(value: Option<f64>) -> String {
    match value.map(|days| days * 86_400_000.0) {
        None => "–".to_owned(),
        Some(millis) if millis < 1000.0 => "< 1 s".to_owned(),
        Some(millis) => length(millis as i64),
    }
}

/// The share of a budget, of which a little is not nothing.
fn part(it: &SignalSourceReport, budget: f64) -> String {
    match it.spent / budget {
        share if !share.is_finite() || it.spent <= 0.0 => "–".to_owned(),
        share if share < 0.001 => "< 0.1 %".to_owned(),
        share if share < 1.0 => format!("{:.1} %", 100.0 * share),
        // By hand it can be read more often than the budget pays for.
        share => format!("{} %", count((100.0 * share) as usize)),
    }
}

fn table(some: &[SignalSourceState], budget: f64, now: i64, head: bool) -> String {
    let mut out = String::new();
    if head {
        out.push_str(
            "number  kind       true  tells    later  read every   budget   brought        last  outcome         \
             URL\n",
        );
    }
    for it in some {
        let report = it.report.unwrap_or_default();
        let at = it.source.as_ref().and_then(|it| it.attempted_at).or(it.herald.last_signal_at);
        let _ = writeln!(
            out,
            "{:>6}  {:<8}  {:>5}  {:>5}  {:>7}  {:>10}  {:>7}  {:>8}  {:>10}  {:<14}  {}",
            it.herald.id,
            it.herald.kind.name(),
            percent(report.precision),
            percent(report.recall),
            time(report.delay),
            time(report.read_every),
            part(&report, budget),
            significant(report.brought),
            last(at, now),
            outcome(it),
            terminal::line(&it.herald.name),
        );
    }
    out
}

/// What came of the last read, in a word.
fn outcome(it: &SignalSourceState) -> String {
    match (&it.source, &it.last) {
        (Some(source), _) if source.paused => "paused".to_owned(),
        (None, _) => "speaks".to_owned(),
        (_, None) => "not read yet".to_owned(),
        (_, Some(last)) if last.outcome == "read" && !last.defects.is_empty() => {
            format!("read, {}", plural(last.defects.len(), "defect", "defects"))
        }
        (_, Some(last)) => terminal::line(&last.outcome).to_string(),
    }
}

pub(super) fn show(arguments: &ShowArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.one.config)?;
    let reader = home.reader()?;
    let number = find(&reader, &arguments.one.which)?.id;
    let mut found = now_of(&reader, number)?;
    learn(&home, &reader, &mut found)?;
    let Some(it) = found.pop() else {
        return Err(Failure::new(format!("there is no signal source {number}")));
    };
    let budget = budget(&home, &reader)?;
    match arguments.json {
        true => print_json(&SignalSourceView::of(it, budget))?,
        false => print_text(&about(&reader, &it, budget, clock::millis())?)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn row(out: &mut String, name: &str, words: &str) {
    let _ = writeln!(out, "{name:<12}{}", terminal::line(words));
}

fn about(
    reader: &Reader,
    it: &SignalSourceState,
    budget: f64,
    now: i64,
) -> Result<String, Failure> {
    let mut out = format!("{}\n\n", terminal::line(&it.herald.name));
    let report = it.report.unwrap_or_default();
    let herald = &it.herald;
    let origin = SignalSourceView::origin(herald.origin);
    row(&mut out, "kind", &format!("{}, number {}, {origin}", herald.kind.name(), herald.id));
    if let Some(parent) = herald.parent.map(|it| reader.signal_source(it)).transpose()?.flatten() {
        row(&mut out, "part of", &parent.name);
    }
    if it.parts > 0 {
        row(&mut out, "parts", &count(it.parts as usize));
    }
    learnt(&mut out, &report);
    if let Some(source) = &it.source {
        let every = report.read_every.map_or_else(String::new, |every| {
            let share = part(&report, budget);
            format!(", every {} of late, which takes {share} of the budget", time(Some(every)))
        });
        let reads = plural(report.reads as usize, "time", "times");
        row(&mut out, "read", &format!("{reads}{every}"));
        let last_read = match &it.last {
            None => "not read yet".to_owned(),
            Some(read) => format!("{}: {}", last(source.attempted_at, now), read.words()),
        };
        row(&mut out, "last read", &last_read);
        for (name, times) in it.last.iter().flat_map(|it| &it.defects) {
            row(
                &mut out,
                "  defect",
                &format!("{name}: {}", plural(*times as usize, "time", "times")),
            );
        }
        let next = match (source.paused, source.due_at) {
            (true, _) => "not by itself: it is paused".to_owned(),
            (_, None) => "when the daemon runs".to_owned(),
            (_, Some(due)) => from_now(due.max(now), now),
        };
        row(&mut out, "next read", &next);
        if it.rule.discover {
            let (found, most) =
                (count(herald.sources_added as usize), count(it.rule.most as usize));
            row(&mut out, "discovers", &format!("{found} of at most {most} pages so far"));
            for (name, patterns) in [("  only", &it.rule.include), ("  not", &it.rule.exclude)] {
                if !patterns.is_empty() {
                    row(&mut out, name, &patterns.join(", "));
                }
            }
        }
    } else {
        row(&mut out, "last heard", &last(herald.last_signal_at, now));
    }
    Ok(out)
}

/// What was learnt of its signals.
fn learnt(out: &mut String, it: &SignalSourceReport) {
    let heard = plural(it.signals as usize, "signal", "signals");
    let late = match it.late {
        0 => String::new(),
        late => format!(", {} of what the copy had already", count(late as usize)),
    };
    let sources = plural(it.sources as usize, "source", "sources");
    row(out, "said", &format!("{heard} about {sources}{late}"));
    let Some(precision) = it.precision else {
        row(out, "true", "not known yet: no fetch has shown it");
        return;
    };
    let (proved, tried) = (count(it.proved as usize), count(it.tried as usize));
    let words = format!(
        "{} of its signals stand for a change: {proved} of {tried} fetches found one",
        percent(Some(precision))
    );
    row(out, "true", &words);
    if let Some(recall) = it.recall {
        let missed = match it.missed {
            0 => "it has missed none".to_owned(),
            missed => format!("it has missed {}", count(missed as usize)),
        };
        let words = format!("of {} of the changes; {missed}", percent(Some(recall)));
        row(out, "tells", &words);
    }
    if let Some(delay) = it.delay {
        row(out, "later", &format!("a signal comes {} after its change", time(Some(delay))));
    }
    row(out, "brought", &format!("{} over the price of its fetches", significant(it.brought)));
}
