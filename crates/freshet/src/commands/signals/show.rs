//! `freshet signals` and `freshet signals show`.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Args;
use freshet_daemon::{SignalSourceReport, SignalSourceState};
use freshet_server::SignalSourceView;
use freshet_store::{Reader, SignalSourceQuery};

use super::{SignalSourceArgument, budget, fill_in_reports, find, read_state};
use crate::clock;
use crate::commands::instance::{ConfigArguments, Instance};
use crate::failure::Failure;
use crate::number::{format_count, format_significant, pluralize};
use crate::output::{print_json, print_line, print_note, print_text, to_json_line};
use crate::terminal;
use crate::time_format::{format_duration, format_last, format_relative};

/// Number of signal sources that are read at once.
const PAGE_SIZE: usize = 1000;

#[derive(Debug, Args)]
pub(super) struct ListArguments {
    /// Include the sitemaps that a sitemap index lists
    #[arg(long)]
    parts: bool,

    /// Maximum number of signal sources; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    limit: usize,

    /// Print the signal sources as JSON, one object per line
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    config: ConfigArguments,
}

/// Show a signal source, its reliability and its last read
#[derive(Debug, Args)]
pub(super) struct ShowArguments {
    #[command(flatten)]
    one: SignalSourceArgument,

    /// Print the signal source as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn list(arguments: &ListArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let Some(reader) = instance.reader_if_any()? else {
        print_empty(arguments.json);
        return Ok(ExitCode::SUCCESS);
    };
    let budget = budget(&instance, &reader)?;
    let now = clock::now_millis();
    let mut remaining = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    let mut query =
        SignalSourceQuery { top_level_only: !arguments.parts, ..SignalSourceQuery::default() };
    let mut shown = 0;
    while remaining > 0 {
        query.limit = remaining.min(PAGE_SIZE);
        let mut page = SignalSourceState::load(&reader, &query)?;
        let Some(end) = page.last() else { break };
        query.after = Some(end.signal_source.id);
        fill_in_reports(&instance, &reader, &mut page)?;
        (shown, remaining) = (shown + page.len(), remaining - page.len());
        if !arguments.json {
            print_text(&table(&page, budget, now, shown == page.len()))?;
            continue;
        }
        let lines = page.into_iter().map(|it| to_json_line(&SignalSourceView::new(it, budget)));
        if !print_line(&lines.collect::<Result<Vec<_>, _>>()?.join("\n"))? {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if shown == 0 {
        print_empty(arguments.json);
    } else if !arguments.json {
        let (all, parts) = reader.count_signal_sources()?;
        let all = if arguments.parts { all } else { all - parts } as usize;
        let more = if shown < all { format!("{shown} of ") } else { String::new() };
        let hint = if shown < all { "; more with --limit 0" } else { "" };
        let hidden = match parts {
            parts if parts > 0 && !arguments.parts => {
                format!(
                    "; show {} of sitemap indexes with --parts",
                    pluralize(parts as usize, "part", "parts")
                )
            }
            _ => String::new(),
        };
        let all = pluralize(all, "signal source", "signal sources");
        print_note(&format!("{more}{all}{hint}{hidden}"));
    }
    Ok(ExitCode::SUCCESS)
}

fn print_empty(json: bool) {
    if !json {
        print_note(
            "no signal sources yet\n\nhint: add a sitemap with \
             `freshet signals add https://example.com/sitemap.xml`",
        );
    }
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |it| format!("{:.0} %", 100.0 * it))
}

/// Formats a time in days in a short form.
fn format_time(value: Option<f64>) -> String {
    match value.map(|days| days * 86_400_000.0) {
        None => "–".to_owned(),
        Some(millis) if millis < 1000.0 => "< 1 s".to_owned(),
        Some(millis) => format_duration(millis as i64),
    }
}

/// Formats the share of the budget; a small share is not shown as 0.
fn budget_share(it: &SignalSourceReport, budget: f64) -> String {
    match it.cost_per_day / budget {
        share if !share.is_finite() || it.cost_per_day <= 0.0 => "–".to_owned(),
        share if share < 0.001 => "< 0.1 %".to_owned(),
        share if share < 1.0 => format!("{:.1} %", 100.0 * share),
        // With a fixed interval, reads can exceed the budget.
        share => format!("{} %", format_count((100.0 * share) as usize)),
    }
}

fn table(page: &[SignalSourceState], budget: f64, now: i64, head: bool) -> String {
    let mut out = String::new();
    if head {
        out.push_str(
            "number  kind      precision  recall    delay  read every   budget      gain        last  outcome         \
             URL\n",
        );
    }
    for it in page {
        let report = it.report.unwrap_or_default();
        let at =
            it.source.as_ref().and_then(|it| it.attempted_at).or(it.signal_source.last_signal_at);
        let _ = writeln!(
            out,
            "{:>6}  {:<8}  {:>9}  {:>6}  {:>7}  {:>10}  {:>7}  {:>8}  {:>10}  {:<14}  {}",
            it.signal_source.id,
            it.signal_source.kind.name(),
            percent(report.precision),
            percent(report.recall),
            format_time(report.delay),
            format_time(report.read_interval),
            budget_share(&report, budget),
            format_significant(report.gained_value),
            format_last(at, now),
            outcome(it),
            terminal::sanitize_line(&it.signal_source.name),
        );
    }
    out
}

/// Describes the outcome of the last read.
fn outcome(it: &SignalSourceState) -> String {
    match (&it.source, &it.last_read) {
        (Some(source), _) if source.paused => "paused".to_owned(),
        (None, _) => "push".to_owned(),
        (_, None) => "not read yet".to_owned(),
        (_, Some(last)) if last.outcome == "read" && !last.defects.is_empty() => {
            format!("read, {}", pluralize(last.defects.len(), "defect", "defects"))
        }
        (_, Some(last)) => terminal::sanitize_line(&last.outcome).to_string(),
    }
}

pub(super) fn show(arguments: &ShowArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.one.config)?;
    let reader = instance.reader()?;
    let number = find(&reader, &arguments.one.name)?.id;
    let mut found = read_state(&reader, number)?;
    fill_in_reports(&instance, &reader, &mut found)?;
    let Some(it) = found.pop() else {
        return Err(Failure::new(format!("there is no signal source {number}")));
    };
    let budget = budget(&instance, &reader)?;
    match arguments.json {
        true => print_json(&SignalSourceView::new(it, budget))?,
        false => print_text(&describe(&reader, &it, budget, clock::now_millis())?)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn write_row(out: &mut String, name: &str, words: &str) {
    let _ = writeln!(out, "{name:<13}{}", terminal::sanitize_line(words));
}

fn describe(
    reader: &Reader,
    it: &SignalSourceState,
    budget: f64,
    now: i64,
) -> Result<String, Failure> {
    let mut out = format!("{}\n\n", terminal::sanitize_line(&it.signal_source.name));
    let report = it.report.unwrap_or_default();
    let signal_source = &it.signal_source;
    let origin = SignalSourceView::origin_words(signal_source.origin);
    write_row(
        &mut out,
        "kind",
        &format!("{}, number {}, {origin}", signal_source.kind.name(), signal_source.id),
    );
    if let Some(parent) =
        signal_source.parent.map(|it| reader.signal_source(it)).transpose()?.flatten()
    {
        write_row(&mut out, "part of", &parent.name);
    }
    if it.children > 0 {
        write_row(&mut out, "parts", &format_count(it.children as usize));
    }
    write_statistics(&mut out, &report);
    if let Some(source) = &it.source {
        let every = report.read_interval.map_or_else(String::new, |every| {
            let share = budget_share(&report, budget);
            format!(
                ", currently every {}, which takes {share} of the budget",
                format_time(Some(every))
            )
        });
        let reads = pluralize(report.reads as usize, "time", "times");
        write_row(&mut out, "read", &format!("{reads}{every}"));
        let last_read = match &it.last_read {
            None => "not read yet".to_owned(),
            Some(read) => format!("{}: {}", format_last(source.attempted_at, now), read.describe()),
        };
        write_row(&mut out, "last read", &last_read);
        for (name, times) in it.last_read.iter().flat_map(|it| &it.defects) {
            write_row(
                &mut out,
                "  defect",
                &format!("{name}: {}", pluralize(*times as usize, "time", "times")),
            );
        }
        let next = match (source.paused, source.due_at) {
            (true, _) => "none: paused".to_owned(),
            (_, None) => "when the daemon runs".to_owned(),
            (_, Some(due)) => format_relative(due.max(now), now),
        };
        write_row(&mut out, "next read", &next);
        if it.rule.discover {
            let (found, limit) = (
                format_count(signal_source.sources_added as usize),
                format_count(it.rule.max_pages as usize),
            );
            write_row(&mut out, "pages added", &format!("{found} of at most {limit}"));
            for (name, patterns) in
                [("  include", &it.rule.include), ("  exclude", &it.rule.exclude)]
            {
                if !patterns.is_empty() {
                    write_row(&mut out, name, &patterns.join(", "));
                }
            }
        }
    } else {
        write_row(&mut out, "last signal", &format_last(signal_source.last_signal_at, now));
    }
    Ok(out)
}

/// Describes the statistics of its signals.
fn write_statistics(out: &mut String, it: &SignalSourceReport) {
    let signals = pluralize(it.signals as usize, "signal", "signals");
    let late = match it.late_signals {
        0 => String::new(),
        late => format!(
            ", {} of them about changes that were already fetched",
            format_count(late as usize)
        ),
    };
    let sources = pluralize(it.sources as usize, "source", "sources");
    write_row(out, "signals", &format!("{signals} about {sources}{late}"));
    let Some(precision) = it.precision else {
        write_row(out, "precision", "not known yet: no fetch has confirmed or refuted a signal");
        return;
    };
    let confirmed = format_count(it.confirmed_fetches as usize);
    let fetches = format_count(it.signalled_fetches as usize);
    let words = format!(
        "{} of its signals stand for changes: {confirmed} of {fetches} fetches found one",
        percent(Some(precision))
    );
    write_row(out, "precision", &words);
    if let Some(recall) = it.recall {
        let missed = match it.missed_changes {
            0 => "no change was missed".to_owned(),
            missed => format!("missed {}", format_count(missed as usize)),
        };
        let words = format!("{} of the changes have a signal; {missed}", percent(Some(recall)));
        write_row(out, "recall", &words);
    }
    if let Some(delay) = it.delay {
        write_row(
            out,
            "delay",
            &format!("a signal arrives {} after its change", format_time(Some(delay))),
        );
    }
    write_row(
        out,
        "gain",
        &format!("{} above the price of its fetches", format_significant(it.gained_value)),
    );
}
