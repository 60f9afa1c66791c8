//! Formats diffs as text.

use std::fmt::Write;

use super::{Diff, DiffPart, DiffRow, DiffSide};

impl Diff {
    /// True if both texts are the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|it| matches!(it, DiffRow::Same(_)))
    }

    /// Returns the number of added lines and of removed lines. A changed line counts as both.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        self.rows.iter().fold((0, 0), |(new, removed), row| match row {
            DiffRow::Same(_) => (new, removed),
            DiffRow::Added(_) => (new + 1, removed),
            DiffRow::Removed(_) => (new, removed + 1),
            DiffRow::Changed { .. } => (new + 1, removed + 1),
        })
    }

    /// Formats the diff in the unified format, with `context` lines around each change.
    #[must_use]
    pub fn unified(&self, context: usize) -> String {
        let mut out = String::new();
        for hunk in self.hunks(context) {
            let (mut old, mut new) = (0, 0);
            let rows = &self.rows[hunk.from..hunk.to];
            let mut body = String::new();
            // In a run of changes, removed lines come before added lines.
            let mut added = String::new();
            for row in rows {
                match row {
                    DiffRow::Same(line) => {
                        body.push_str(&std::mem::take(&mut added));
                        push_line(' ', line, &mut body);
                        (old, new) = (old + 1, new + 1);
                    }
                    DiffRow::Removed(line) => {
                        push_line('-', line, &mut body);
                        old += 1;
                    }
                    DiffRow::Added(line) => {
                        push_line('+', line, &mut added);
                        new += 1;
                    }
                    DiffRow::Changed { old: before, new: after } => {
                        push_line('-', &plain(before), &mut body);
                        push_line('+', &plain(after), &mut added);
                        (old, new) = (old + 1, new + 1);
                    }
                }
            }
            body.push_str(&added);
            let start = |at: usize, count: usize| if count == 0 { at } else { at + 1 };
            let (from_old, from_new) = (start(hunk.old, old), start(hunk.new, new));
            let _ = writeln!(out, "@@ -{from_old},{old} +{from_new},{new} @@");
            out.push_str(&body);
        }
        out
    }

    /// Formats the changed lines only, with removed words as `[-…-]` and added words as `{+…+}`.
    #[must_use]
    pub fn words(&self) -> String {
        let mut out = String::new();
        for row in &self.rows {
            match row {
                DiffRow::Same(_) => {}
                DiffRow::Removed(line) => {
                    let _ = writeln!(out, "[-{line}-]");
                }
                DiffRow::Added(line) => {
                    let _ = writeln!(out, "{{+{line}+}}");
                }
                DiffRow::Changed { old, new } => {
                    let mut new = new.iter().peekable();
                    let mut push_new = |out: &mut String, until_same: bool| {
                        while let Some(part) = new.next_if(|it| until_same != it.is_same) {
                            let _ = if part.is_same {
                                Ok(())
                            } else {
                                write!(out, "{{+{}+}}", part.text)
                            };
                        }
                    };
                    for part in old {
                        if part.is_same {
                            push_new(&mut out, true);
                            out.push_str(&part.text);
                            push_new(&mut out, false);
                        } else {
                            let _ = write!(out, "[-{}-]", part.text);
                        }
                    }
                    push_new(&mut out, true);
                    out.push('\n');
                }
            }
        }
        out
    }

    /// Returns the lines of a column; `None` where a row has no line on that side.
    pub fn column(&self, side: DiffSide) -> impl Iterator<Item = Option<String>> {
        self.rows.iter().map(move |row| match (row, side) {
            (DiffRow::Same(line), _)
            | (DiffRow::Removed(line), DiffSide::Old)
            | (DiffRow::Added(line), DiffSide::New) => Some(line.clone()),
            (DiffRow::Removed(_), DiffSide::New) | (DiffRow::Added(_), DiffSide::Old) => None,
            (DiffRow::Changed { old, .. }, DiffSide::Old) => Some(plain(old)),
            (DiffRow::Changed { new, .. }, DiffSide::New) => Some(plain(new)),
        })
    }

    /// Groups rows into hunks, with their start in both texts.
    fn hunks(&self, context: usize) -> Vec<Hunk> {
        let mut hunks: Vec<Hunk> = Vec::new();
        let (mut old, mut new) = (0, 0);
        // The start of each row in both texts, as a hunk begins a few rows before its first change.
        let mut starts = Vec::with_capacity(self.rows.len());
        for (at, row) in self.rows.iter().enumerate() {
            starts.push((old, new));
            let is_same = matches!(row, DiffRow::Same(_));
            if !is_same {
                let from = at.saturating_sub(context);
                let to = self.rows.len().min(at + context + 1);
                match hunks.last_mut().filter(|it| it.to >= from) {
                    Some(last) => last.to = to,
                    None => hunks.push(Hunk { from, to, old: starts[from].0, new: starts[from].1 }),
                }
            }
            old += usize::from(!matches!(row, DiffRow::Added(_)));
            new += usize::from(!matches!(row, DiffRow::Removed(_)));
        }
        hunks
    }
}

struct Hunk {
    from: usize,
    to: usize,
    old: usize,
    new: usize,
}

fn push_line(sign: char, line: &str, out: &mut String) {
    out.push(sign);
    out.push_str(line);
    out.push('\n');
}

fn plain(parts: &[DiffPart]) -> String {
    parts.iter().map(|it| it.text.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use crate::diff::{DiffRow, DiffSide, diff};

    #[test]
    fn unified() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let new = "a\nb\nc\nd\nE is new\nf\ng\nh\ni\n";
        assert_eq!(
            diff(old, new).unified(1),
            "@@ -4,3 +4,3 @@\n d\n-e\n+E is new\n f\n@@ -8,1 +8,2 @@\n h\n+i\n"
        );
        assert_eq!(diff("", "a\n").unified(3), "@@ -0,0 +1,1 @@\n+a\n");
        assert_eq!(diff("a\n", "a\n").unified(3), "");
    }

    #[test]
    fn changed_words_are_marked() {
        let found = diff("It costs 12 € today.\n", "It costs 13 € today.\n");
        assert_eq!(found.words(), "It costs [-12-]{+13+} € today.\n");
        assert_eq!(diff("a b c\n", "x a b c\n").words(), "{+x +}a b c\n");
        assert_eq!(diff("one\n", "two\n").words(), "[-one-]\n{+two+}\n");
    }

    #[test]
    fn both_columns_have_the_same_length() {
        let found = diff("a\nb\n", "a\nc\nx\n");
        let column = |side| found.column(side).collect::<Vec<_>>();
        assert_eq!(column(DiffSide::Old).len(), column(DiffSide::New).len());
        assert_eq!(found.counts(), (2, 1));
        assert!(matches!(found.rows[0], DiffRow::Same(_)));
    }
}
