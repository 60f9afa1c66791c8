//! The diff of two versions, inline or side by side, with a map of the changes.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use freshet_detect::{DiffPart, DiffRow, diff};
use serde::Deserialize;

use super::SourceHeader;
use crate::app::App;
use crate::extractors::{PathParams, QueryParams};
use crate::problem::Problem;
use crate::routes::{MAX_LINE_CHARS, load_versions, version_text};
use crate::web::format::{self, RelativeTime};
use crate::web::frame::{Frame, render_page};

/// Unchanged lines shown around a change, and lines per page at most.
const CONTEXT: usize = 3;
const MAX_LINES: usize = 6000;
/// Height of the map, and minimum height of an entry. Changes closer to each other share an entry.
const MAP_HEIGHT: f64 = 1000.0;
const MIN_ENTRY_HEIGHT: f64 = 5.0;
/// Versions offered for selection, newest first.
const MAX_CHOICES: usize = 200;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DiffQuery {
    from: Option<u32>,
    to: Option<u32>,
    /// `side` for the side-by-side view.
    view: Option<String>,
    /// Present if unchanged lines are not collapsed.
    all: Option<String>,
}

#[derive(Template)]
#[template(path = "source_diff.html")]
struct DiffPage {
    frame: Frame,
    header: SourceHeader,
    from: VersionSide,
    to: VersionSide,
    removed: String,
    added: String,
    is_side_by_side: bool,
    is_all: bool,
    /// Addresses of the other view, and of this one with more or fewer lines.
    inline: String,
    side: String,
    more: String,
    less: String,
    lines: Vec<DiffLine>,
    map_entries: Vec<MapEntry>,
    is_truncated: bool,
    versions: Vec<(u32, String, bool)>,
}

/// One of the two versions.
struct VersionSide {
    n: u32,
    when: RelativeTime,
    raw: String,
}

/// A line of the diff.
enum DiffLine {
    /// Number of collapsed unchanged lines.
    Collapsed(usize),
    Row {
        /// Number of the change, on its first line: target of the map's links.
        mark: Option<usize>,
        kind: &'static str,
        old: Option<LineText>,
        new: Option<LineText>,
    },
}

impl DiffLine {
    fn mark(&self) -> Option<usize> {
        match self {
            Self::Collapsed(_) => None,
            Self::Row { mark, .. } => *mark,
        }
    }
}

/// A line of a version with its number.
struct LineText {
    n: usize,
    parts: Vec<DiffPart>,
}

/// An entry of the map: one or several adjacent changes.
struct MapEntry {
    mark: usize,
    kind: &'static str,
    /// Vertical extent.
    from: f64,
    to: f64,
    line: usize,
    /// True if the line is on the page.
    is_on_page: bool,
}

impl MapEntry {
    fn y(&self) -> String {
        format!("{:.1}", self.from)
    }

    fn height(&self) -> String {
        format!("{:.1}", self.to - self.from)
    }
}

pub(super) async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    PathParams(id): PathParams<u32>,
    QueryParams(query): QueryParams<DiffQuery>,
) -> Result<Response, Problem> {
    let frame = frame.with_section("sources");
    let (from, to) = (query.from, query.to);
    let handle = app.handle.clone();
    let found = app.read(move |reader| {
        Ok(match load_versions(reader, id, from, to)? {
            Err(problem) => Err(problem),
            Ok((source, old, new)) => {
                let texts =
                    [version_text(&handle, &source, &old), version_text(&handle, &source, &new)];
                let diff = diff(&texts[0], &texts[1]).truncate_lines(MAX_LINE_CHARS);
                let host = reader.host(source.host)?.map(|it| it.name).unwrap_or_default();
                let versions_kept = reader.versions(id)?;
                Ok((source, host, old.meta, new.meta, diff, versions_kept))
            }
        })
    });
    let (source, host, old, new, diff, versions_kept) = found.await??;
    let (removed, added) = diff.counts();
    let is_side_by_side = query.view.as_deref() == Some("side");
    let is_all = query.all.is_some();
    let rows = number_rows(diff.rows);
    let mut map_entries = change_map(&rows);
    let mut lines = if is_all { all_lines(rows) } else { collapsed_lines(rows) };
    let is_truncated = lines.len() > MAX_LINES;
    lines.truncate(MAX_LINES);
    let last = lines.iter().rev().find_map(DiffLine::mark).unwrap_or(0);
    for it in &mut map_entries {
        it.is_on_page = it.mark <= last;
    }
    let address = |view: &str, all: bool| {
        let all = if all { "&all=1" } else { "" };
        format!("/sources/{id}/diff?from={}&to={}&view={view}{all}", old.number, new.number)
    };
    let view = if is_side_by_side { "side" } else { "inline" };
    let side = |it: &freshet_store::VersionMeta| VersionSide {
        n: it.number,
        when: format::relative_time(it.first_seen_at, frame.now),
        raw: format!("/raw/{id}/{}", it.number),
    };
    let choices = versions_kept.iter().enumerate();
    let choices = choices
        .filter(|(at, it)| *at < MAX_CHOICES || it.number == old.number || it.number == new.number);
    let versions = choices
        .map(|(_, it)| (it.number, format::short_date(it.first_seen_at), it.number == new.number))
        .collect();
    render_page(&DiffPage {
        header: SourceHeader::new(&source, &host, &frame, "diff"),
        from: side(&old),
        to: side(&new),
        removed: format::plural(removed as u64, "line", "lines"),
        added: format::plural(added as u64, "line", "lines"),
        is_side_by_side,
        is_all,
        inline: address("inline", is_all),
        side: address("side", is_all),
        more: address(view, true),
        less: address(view, false),
        lines,
        map_entries,
        is_truncated,
        versions,
        frame,
    })
}

/// A row of the diff with line numbers in both versions, and the number of its change.
struct NumberedRow {
    kind: &'static str,
    old: Option<LineText>,
    new: Option<LineText>,
    change: Option<usize>,
}

fn number_rows(rows: Vec<DiffRow>) -> Vec<NumberedRow> {
    let (mut before, mut after, mut change, mut was_same) = (0, 0, 0, true);
    let whole_line =
        |n, text, same| Some(LineText { n, parts: vec![DiffPart { text, is_same: same }] });
    let mut out = Vec::with_capacity(rows.len());
    for row in rows {
        let is_same = matches!(row, DiffRow::Same(_));
        change += usize::from(was_same && !is_same);
        was_same = is_same;
        before += usize::from(!matches!(row, DiffRow::Added(_)));
        after += usize::from(!matches!(row, DiffRow::Removed(_)));
        let (kind, old, new) = match row {
            DiffRow::Same(line) => {
                ("same", whole_line(before, line.clone(), true), whole_line(after, line, true))
            }
            DiffRow::Removed(line) => ("removed", whole_line(before, line, true), None),
            DiffRow::Added(line) => ("added", None, whole_line(after, line, true)),
            DiffRow::Changed { old, new } => (
                "changed",
                Some(LineText { n: before, parts: old }),
                Some(LineText { n: after, parts: new }),
            ),
        };
        out.push(NumberedRow { kind, old, new, change: (!is_same).then_some(change) });
    }
    out
}

/// Returns the entries of the map.
fn change_map(rows: &[NumberedRow]) -> Vec<MapEntry> {
    let each = MAP_HEIGHT / rows.len().max(1) as f64;
    let mut map_entries: Vec<MapEntry> = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        let Some(change) = rows[at].change else {
            at += 1;
            continue;
        };
        let run = rows[at..].iter().take_while(|it| it.change == Some(change));
        let kinds: Vec<_> = run.map(|it| it.kind).collect();
        let all_of_kind = |kind: &str| kinds.iter().all(|it| *it == kind);
        let kind = ["added", "removed"].into_iter().find(|it| all_of_kind(it)).unwrap_or("changed");
        let line = rows[at].new.as_ref().or(rows[at].old.as_ref()).map_or(0, |it| it.n);
        let height = (each * kinds.len() as f64).max(MIN_ENTRY_HEIGHT);
        let from = (each * at as f64).min(MAP_HEIGHT - height);
        let to = from + height;
        match map_entries.last_mut() {
            Some(last) if from - last.from < MIN_ENTRY_HEIGHT => {
                last.to = last.to.max(to);
                if last.kind != kind {
                    last.kind = "changed";
                }
            }
            _ => {
                map_entries.push(MapEntry { mark: change, kind, from, to, line, is_on_page: true })
            }
        }
        at += kinds.len();
    }
    map_entries
}

fn all_lines(rows: Vec<NumberedRow>) -> Vec<DiffLine> {
    let mut last = None;
    rows.into_iter().map(|row| diff_line(row, &mut last)).collect()
}

fn diff_line(row: NumberedRow, last: &mut Option<usize>) -> DiffLine {
    let NumberedRow { kind, old, new, change } = row;
    let is_first = change.is_some() && change != *last;
    *last = change.or(*last);
    DiffLine::Row { mark: change.filter(|_| is_first), kind, old, new }
}

/// Collapses unchanged lines that are not near a change.
fn collapsed_lines(rows: Vec<NumberedRow>) -> Vec<DiffLine> {
    let mut shown = vec![false; rows.len()];
    for (at, row) in rows.iter().enumerate() {
        if row.change.is_some() {
            let until = (at + CONTEXT + 1).min(rows.len());
            shown[at.saturating_sub(CONTEXT)..until].fill(true);
        }
    }
    // A single line is shown: the note that replaces it would take as much space.
    for at in 0..rows.len() {
        let alone = !shown[at] && at > 0 && shown[at - 1] && shown.get(at + 1) == Some(&true);
        shown[at] |= alone;
    }
    let mut last = None;
    let mut lines = Vec::new();
    for (row, shown) in rows.into_iter().zip(shown) {
        match lines.last_mut() {
            _ if shown => lines.push(diff_line(row, &mut last)),
            Some(DiffLine::Collapsed(count)) => *count += 1,
            _ => lines.push(DiffLine::Collapsed(1)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(lines: std::ops::Range<u32>) -> String {
        lines.map(|it| format!("line number {it} of many\n")).collect()
    }

    fn shape(lines: &[DiffLine]) -> Vec<String> {
        let word = |line: &DiffLine| match line {
            DiffLine::Collapsed(count) => format!("…{count}"),
            DiffLine::Row { mark, kind, .. } => {
                format!("{kind}{}", mark.map_or_else(String::new, |it| format!("#{it}")))
            }
        };
        lines.iter().map(word).collect()
    }

    #[test]
    fn unchanged_lines_are_collapsed_and_every_change_is_on_the_map() {
        let old = text(0..40);
        let new = old.replace("number 20 of", "number twenty of") + "one more\n";
        let rows = number_rows(diff(&old, &new).rows);
        let map_entries = change_map(&rows);
        assert_eq!(
            map_entries.iter().map(|it| (it.mark, it.kind, it.line)).collect::<Vec<_>>(),
            [(1, "changed", 21), (2, "added", 41),]
        );
        let lines = collapsed_lines(rows);
        let mut expect = vec!["…17"];
        expect.extend(["same"; 3]);
        expect.push("changed#1");
        expect.extend(["same"; 3]);
        expect.push("…13");
        expect.extend(["same"; 3]);
        expect.push("added#2");
        assert_eq!(shape(&lines), expect);
        let all = all_lines(number_rows(diff(&old, &new).rows));
        assert_eq!(all.len(), 41);
        assert!(change_map(&number_rows(Vec::new())).is_empty());
    }

    #[test]
    fn the_map_merges_adjacent_changes() {
        let old = text(0..4000);
        let new: String = (0..4000)
            .map(|it| match it % 2 {
                0 => format!("line number {it} of many\n"),
                _ => format!("line number {it} of {}\n", it + 1),
            })
            .collect();
        let map_entries = change_map(&number_rows(diff(&old, &new).rows));
        assert!(
            (100..=(MAP_HEIGHT / MIN_ENTRY_HEIGHT) as usize).contains(&map_entries.len()),
            "{}",
            map_entries.len()
        );
        assert!(map_entries.windows(2).all(|it| it[0].mark < it[1].mark));
        assert!(map_entries.iter().all(|it| it.from >= 0.0 && it.to <= MAP_HEIGHT + 1e-9));
    }
}
