//! What changed between two versions: in one column or in two, with a map of the whole beside it.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use freshet_detect::{Part, Row, diff};
use serde::Deserialize;

use super::Head;
use crate::app::App;
use crate::input::{Place, Query};
use crate::problem::Problem;
use crate::routes::{LONGEST_LINE, pair, text};
use crate::web::frame::{Frame, page};
use crate::web::words::{self, When};

/// Lines around a change that are shown, and lines of a page at most.
const CONTEXT: usize = 3;
const MOST: usize = 6000;
/// How high the map is, and the least height of a place on it: changes that are nearer to each other are
/// one place.
const MAP: f64 = 1000.0;
const LEAST: f64 = 5.0;
/// Versions to choose from, the newest.
const CHOICES: usize = 200;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DiffQuery {
    from: Option<u32>,
    to: Option<u32>,
    /// `side` for two columns.
    view: Option<String>,
    /// Whether lines far from any change are shown too.
    all: Option<String>,
}

#[derive(Template)]
#[template(path = "source_diff.html")]
struct DiffPage {
    frame: Frame,
    head: Head,
    from: Side,
    to: Side,
    removed: String,
    added: String,
    is_side: bool,
    is_all: bool,
    /// Where the same is in the other view, and with all lines or only some.
    inline: String,
    side: String,
    more: String,
    less: String,
    lines: Vec<Line>,
    places: Vec<Spot>,
    is_cut: bool,
    versions: Vec<(u32, String, bool)>,
}

/// One of the two versions.
struct Side {
    n: u32,
    when: When,
    raw: String,
}

/// A line of the page.
enum Line {
    /// So many lines that are the same.
    Folded(usize),
    Row {
        /// Of the first line of a change: what the map leads to.
        mark: Option<usize>,
        kind: &'static str,
        old: Option<Text>,
        new: Option<Text>,
    },
}

impl Line {
    fn mark(&self) -> Option<usize> {
        match self {
            Self::Folded(_) => None,
            Self::Row { mark, .. } => *mark,
        }
    }
}

/// A line of a version, with its number there.
struct Text {
    n: usize,
    parts: Vec<Part>,
}

/// A change on the map, or some that are next to each other.
struct Spot {
    mark: usize,
    kind: &'static str,
    /// Where it begins and ends.
    from: f64,
    to: f64,
    line: usize,
    /// Whether its line is on the page.
    is_shown: bool,
}

impl Spot {
    fn y(&self) -> String {
        format!("{:.1}", self.from)
    }

    fn high(&self) -> String {
        format!("{:.1}", self.to - self.from)
    }
}

pub(super) async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    Place(id): Place<u32>,
    Query(asked): Query<DiffQuery>,
) -> Result<Response, Problem> {
    let frame = frame.at("sources");
    let (from, to) = (asked.from, asked.to);
    let handle = app.handle.clone();
    let found = app.read(move |reader| {
        Ok(match pair(reader, id, from, to)? {
            Err(problem) => Err(problem),
            Ok((source, old, new)) => {
                let texts = [text(&handle, &source, &old), text(&handle, &source, &new)];
                let diff = diff(&texts[0], &texts[1]).cut(LONGEST_LINE);
                let host = reader.host(source.host)?.map(|it| it.name).unwrap_or_default();
                let kept = reader.versions(id)?;
                Ok((source, host, old.meta, new.meta, diff, kept))
            }
        })
    });
    let (source, host, old, new, diff, kept) = found.await??;
    let (removed, added) = diff.counts();
    let is_side = asked.view.as_deref() == Some("side");
    let is_all = asked.all.is_some();
    let rows = numbered(diff.rows);
    let mut places = map(&rows);
    let mut lines = if is_all { unfolded(rows) } else { folded(rows) };
    let is_cut = lines.len() > MOST;
    lines.truncate(MOST);
    let last = lines.iter().rev().find_map(Line::mark).unwrap_or(0);
    for it in &mut places {
        it.is_shown = it.mark <= last;
    }
    let address = |view: &str, all: bool| {
        let all = if all { "&all=1" } else { "" };
        format!("/sources/{id}/diff?from={}&to={}&view={view}{all}", old.number, new.number)
    };
    let view = if is_side { "side" } else { "inline" };
    let side = |it: &freshet_store::VersionMeta| Side {
        n: it.number,
        when: words::when(it.first_seen_at, frame.now),
        raw: format!("/raw/{id}/{}", it.number),
    };
    let offered = kept.iter().enumerate();
    let offered = offered
        .filter(|(at, it)| *at < CHOICES || it.number == old.number || it.number == new.number);
    let versions = offered
        .map(|(_, it)| (it.number, words::stamp(it.first_seen_at), it.number == new.number))
        .collect();
    page(&DiffPage {
        head: Head::of(&source, &host, &frame, "diff"),
        from: side(&old),
        to: side(&new),
        removed: words::plural(removed as u64, "line", "lines"),
        added: words::plural(added as u64, "line", "lines"),
        is_side,
        is_all,
        inline: address("inline", is_all),
        side: address("side", is_all),
        more: address(view, true),
        less: address(view, false),
        lines,
        places,
        is_cut,
        versions,
        frame,
    })
}

/// A row of the difference with its numbers in both texts, and to which change it belongs.
struct Numbered {
    kind: &'static str,
    old: Option<Text>,
    new: Option<Text>,
    change: Option<usize>,
}

fn numbered(rows: Vec<Row>) -> Vec<Numbered> {
    let (mut before, mut after, mut change, mut was_same) = (0, 0, 0, true);
    let whole = |n, text, same| Some(Text { n, parts: vec![Part { text, same }] });
    let mut out = Vec::with_capacity(rows.len());
    for row in rows {
        let is_same = matches!(row, Row::Same(_));
        change += usize::from(was_same && !is_same);
        was_same = is_same;
        before += usize::from(!matches!(row, Row::Added(_)));
        after += usize::from(!matches!(row, Row::Removed(_)));
        let (kind, old, new) = match row {
            Row::Same(line) => {
                ("same", whole(before, line.clone(), true), whole(after, line, true))
            }
            Row::Removed(line) => ("removed", whole(before, line, true), None),
            Row::Added(line) => ("added", None, whole(after, line, true)),
            Row::Changed { old, new } => (
                "changed",
                Some(Text { n: before, parts: old }),
                Some(Text { n: after, parts: new }),
            ),
        };
        out.push(Numbered { kind, old, new, change: (!is_same).then_some(change) });
    }
    out
}

/// Where the changes are in the whole.
fn map(rows: &[Numbered]) -> Vec<Spot> {
    let each = MAP / rows.len().max(1) as f64;
    let mut places: Vec<Spot> = Vec::new();
    let mut at = 0;
    while at < rows.len() {
        let Some(change) = rows[at].change else {
            at += 1;
            continue;
        };
        let run = rows[at..].iter().take_while(|it| it.change == Some(change));
        let kinds: Vec<_> = run.map(|it| it.kind).collect();
        let is_all = |kind: &str| kinds.iter().all(|it| *it == kind);
        let kind = ["added", "removed"].into_iter().find(|it| is_all(it)).unwrap_or("changed");
        let line = rows[at].new.as_ref().or(rows[at].old.as_ref()).map_or(0, |it| it.n);
        let high = (each * kinds.len() as f64).max(LEAST);
        let from = (each * at as f64).min(MAP - high);
        let to = from + high;
        match places.last_mut() {
            Some(last) if from - last.from < LEAST => {
                last.to = last.to.max(to);
                if last.kind != kind {
                    last.kind = "changed";
                }
            }
            _ => places.push(Spot { mark: change, kind, from, to, line, is_shown: true }),
        }
        at += kinds.len();
    }
    places
}

fn unfolded(rows: Vec<Numbered>) -> Vec<Line> {
    let mut last = None;
    rows.into_iter().map(|row| line(row, &mut last)).collect()
}

fn line(row: Numbered, last: &mut Option<usize>) -> Line {
    let Numbered { kind, old, new, change } = row;
    let is_first = change.is_some() && change != *last;
    *last = change.or(*last);
    Line::Row { mark: change.filter(|_| is_first), kind, old, new }
}

/// Of lines that are the same, those near a change.
fn folded(rows: Vec<Numbered>) -> Vec<Line> {
    let mut shown = vec![false; rows.len()];
    for (at, row) in rows.iter().enumerate() {
        if row.change.is_some() {
            let until = (at + CONTEXT + 1).min(rows.len());
            shown[at.saturating_sub(CONTEXT)..until].fill(true);
        }
    }
    // A line is no longer than the words that there is one.
    for at in 0..rows.len() {
        let alone = !shown[at] && at > 0 && shown[at - 1] && shown.get(at + 1) == Some(&true);
        shown[at] |= alone;
    }
    let mut last = None;
    let mut lines = Vec::new();
    for (row, shown) in rows.into_iter().zip(shown) {
        match lines.last_mut() {
            _ if shown => lines.push(line(row, &mut last)),
            Some(Line::Folded(count)) => *count += 1,
            _ => lines.push(Line::Folded(1)),
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

    fn shape(lines: &[Line]) -> Vec<String> {
        let word = |line: &Line| match line {
            Line::Folded(count) => format!("…{count}"),
            Line::Row { mark, kind, .. } => {
                format!("{kind}{}", mark.map_or_else(String::new, |it| format!("#{it}")))
            }
        };
        lines.iter().map(word).collect()
    }

    #[test]
    fn what_is_far_from_a_change_is_folded_and_every_change_has_a_place() {
        let old = text(0..40);
        let new = old.replace("number 20 of", "number twenty of") + "one more\n";
        let rows = numbered(diff(&old, &new).rows);
        let places = map(&rows);
        assert_eq!(
            places.iter().map(|it| (it.mark, it.kind, it.line)).collect::<Vec<_>>(),
            [(1, "changed", 21), (2, "added", 41),]
        );
        let lines = folded(rows);
        let mut expect = vec!["…17"];
        expect.extend(["same"; 3]);
        expect.push("changed#1");
        expect.extend(["same"; 3]);
        expect.push("…13");
        expect.extend(["same"; 3]);
        expect.push("added#2");
        assert_eq!(shape(&lines), expect);
        let all = unfolded(numbered(diff(&old, &new).rows));
        assert_eq!(all.len(), 41);
        assert!(map(&numbered(Vec::new())).is_empty());
    }

    #[test]
    fn however_many_changes_there_are_the_map_can_be_read() {
        let old = text(0..4000);
        let new: String = (0..4000)
            .map(|it| match it % 2 {
                0 => format!("line number {it} of many\n"),
                _ => format!("line number {it} of {}\n", it + 1),
            })
            .collect();
        let places = map(&numbered(diff(&old, &new).rows));
        assert!((100..=(MAP / LEAST) as usize).contains(&places.len()), "{}", places.len());
        assert!(places.windows(2).all(|it| it[0].mark < it[1].mark));
        assert!(places.iter().all(|it| it.from >= 0.0 && it.to <= MAP + 1e-9));
    }
}
