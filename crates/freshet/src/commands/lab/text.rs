//! Text output of `freshet lab`.

use std::fmt::Write;

use freshet_lab::{CATALOGUE, Counts, Paper, Report, Verdict};

use crate::number::pluralize;

/// Maximum width to which a column is padded.
const MAX_COLUMN_WIDTH: usize = 64;
/// Maximum length of a line of running text.
const MAX_LINE_LEN: usize = 100;

/// Lists the experiments by paper.
pub(crate) fn catalogue() -> String {
    let mut text = String::new();
    let width = CATALOGUE.iter().map(|it| it.name.len()).max().unwrap_or(0);
    // Writing to a string cannot fail, here and below.
    for paper in Paper::ALL {
        let _ = writeln!(text, "{paper} ({})", paper.key());
        for it in CATALOGUE.iter().filter(|it| it.paper == paper) {
            let _ = writeln!(text, "  {:width$}  {}, {}", it.name, it.item, it.section);
            for line in wrap(it.about, MAX_LINE_LEN - width - 4) {
                let _ = writeln!(text, "  {:width$}  {line}", "");
            }
        }
        text.push('\n');
    }
    text.push_str("Run experiments with `freshet lab NAME…`, or all with `freshet lab all`.\n");
    text
}

/// Wraps text into lines of at most `max_len` characters.
fn wrap(words: &str, max_len: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        let last = lines.last().map_or(0, |line| line.chars().count());
        if last > 0 && last + 1 + word.chars().count() > max_len {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// Lists every comparison of every report.
pub(crate) fn full(reports: &[Report]) -> String {
    let mut text = String::new();
    for report in reports {
        let (experiment, outcome) = (report.experiment, &report.outcome);
        let _ = writeln!(
            text,
            "{}: {}, {}, {}\n{}\n",
            experiment.name,
            experiment.paper,
            experiment.item,
            experiment.section,
            wrap(experiment.about, MAX_LINE_LEN).join("\n")
        );
        for table in &outcome.tables {
            let claimant = table.claimant(experiment.paper);
            let head = ["", claimant, "ours", "verdict", ""].map(str::to_owned);
            let rows = table.comparisons().map(|(label, it)| {
                let verdict = it.verdict();
                [
                    label,
                    it.paper().into(),
                    it.found().into(),
                    verdict.to_string(),
                    it.remark().into(),
                ]
            });
            let rows: Vec<Row> = std::iter::once(head).chain(rows).collect();
            text.push_str(&align_columns(&table.title, &rows));
            text.push('\n');
        }
        if !outcome.note.is_empty() {
            let _ = writeln!(text, "{}\n", wrap(&outcome.note, MAX_LINE_LEN).join("\n"));
        }
        let _ = writeln!(text, "{}\n", outcome.counts().words());
    }
    if reports.len() > 1 {
        let _ = writeln!(text, "{}", totals(reports));
    }
    text
}

/// Lists one line for each report, and the comparisons that are not reproduced.
pub(crate) fn summary(reports: &[Report]) -> String {
    let width = reports.iter().map(|it| it.experiment.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for report in reports {
        let (name, counts) = (report.experiment.name, report.outcome.counts());
        let _ = writeln!(text, "{} {name:width$}  {}", counts.worst().sign(), counts.words());
    }
    for verdict in [Verdict::Differs, Verdict::Misprint, Verdict::NotDeterminable] {
        let rows: Vec<Row> = reports
            .iter()
            .flat_map(|report| {
                let all = report.outcome.comparisons();
                let own = all.filter(move |(_, _, it)| it.verdict() == verdict);
                own.map(|(_, label, it)| {
                    let name = report.experiment.name.to_owned();
                    [name, label, it.paper().into(), it.found().into(), it.remark().into()]
                })
            })
            .collect();
        if !rows.is_empty() {
            let _ = write!(text, "\n{}", align_columns(verdict.name(), &rows));
        }
    }
    let _ = writeln!(text, "\n{}", totals(reports));
    text
}

fn totals(reports: &[Report]) -> String {
    let all = reports.iter().fold(Counts::default(), |sum, it| sum.and(it.outcome.counts()));
    format!(
        "{}, {}: {}",
        pluralize(reports.len(), "experiment", "experiments"),
        pluralize(all.total(), "comparison", "comparisons"),
        all.words()
    )
}

type Row = [String; 5];

/// Aligns rows in columns; the last column is not padded.
fn align_columns(title: &str, rows: &[Row]) -> String {
    let mut widths = [0; 4];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count()).min(MAX_COLUMN_WIDTH);
        }
    }
    let mut text = String::new();
    if !title.is_empty() {
        let _ = writeln!(text, "{title}");
    }
    for [first, second, third, fourth, last] in rows {
        let line = format!(
            "  {first:0$}  {second:1$}  {third:2$}  {fourth:3$}  {last}",
            widths[0], widths[1], widths[2], widths[3]
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
