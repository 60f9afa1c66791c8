//! Differences as text.

use std::fmt::Write;

use super::{Diff, Part, Row, Side};

impl Diff {
    /// Whether both texts are the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.iter().all(|it| matches!(it, Row::Same(_)))
    }

    /// How many lines are new, and how many are gone. A changed line is both.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        self.rows.iter().fold((0, 0), |(new, gone), row| match row {
            Row::Same(_) => (new, gone),
            Row::Added(_) => (new + 1, gone),
            Row::Removed(_) => (new, gone + 1),
            Row::Changed { .. } => (new + 1, gone + 1),
        })
    }

    /// In the unified format, with `context` lines around each change.
    #[must_use]
    pub fn unified(&self, context: usize) -> String {
        let mut out = String::new();
        for hunk in self.hunks(context) {
            let (mut old, mut new) = (0, 0);
            let rows = &self.rows[hunk.from..hunk.to];
            let mut body = String::new();
            // Within a run of changes, what is gone stands before what is new.
            let mut added = String::new();
            for row in rows {
                match row {
                    Row::Same(line) => {
                        body.push_str(&std::mem::take(&mut added));
                        push_line(' ', line, &mut body);
                        (old, new) = (old + 1, new + 1);
                    }
                    Row::Removed(line) => {
                        push_line('-', line, &mut body);
                        old += 1;
                    }
                    Row::Added(line) => {
                        push_line('+', line, &mut added);
                        new += 1;
                    }
                    Row::Changed { old: before, new: after } => {
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

    /// Changed lines only, with the words that are gone as `[-…-]` and the new ones as `{+…+}`.
    #[must_use]
    pub fn words(&self) -> String {
        let mut out = String::new();
        for row in &self.rows {
            match row {
                Row::Same(_) => {}
                Row::Removed(line) => {
                    let _ = writeln!(out, "[-{line}-]");
                }
                Row::Added(line) => {
                    let _ = writeln!(out, "{{+{line}+}}");
                }
                Row::Changed { old, new } => {
                    let mut new = new.iter().peekable();
                    let mut push_new = |out: &mut String, until_same: bool| {
                        while let Some(part) = new.next_if(|it| until_same != it.same) {
                            let _ =
                                if part.same { Ok(()) } else { write!(out, "{{+{}+}}", part.text) };
                        }
                    };
                    for part in old {
                        if part.same {
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

    /// One column of two: the line of a row on that side, if it has one.
    pub fn side(&self, side: Side) -> impl Iterator<Item = Option<String>> {
        self.rows.iter().map(move |row| match (row, side) {
            (Row::Same(line), _)
            | (Row::Removed(line), Side::Old)
            | (Row::Added(line), Side::New) => Some(line.clone()),
            (Row::Removed(_), Side::New) | (Row::Added(_), Side::Old) => None,
            (Row::Changed { old, .. }, Side::Old) => Some(plain(old)),
            (Row::Changed { new, .. }, Side::New) => Some(plain(new)),
        })
    }

    /// Rows that belong together, with where they begin in both texts.
    fn hunks(&self, context: usize) -> Vec<Hunk> {
        let mut hunks: Vec<Hunk> = Vec::new();
        let (mut old, mut new) = (0, 0);
        // The places of the last rows, to begin a hunk a few lines earlier.
        let mut places = Vec::with_capacity(self.rows.len());
        for (at, row) in self.rows.iter().enumerate() {
            places.push((old, new));
            let same = matches!(row, Row::Same(_));
            if !same {
                let from = at.saturating_sub(context);
                let to = self.rows.len().min(at + context + 1);
                match hunks.last_mut().filter(|it| it.to >= from) {
                    Some(last) => last.to = to,
                    None => hunks.push(Hunk { from, to, old: places[from].0, new: places[from].1 }),
                }
            }
            old += usize::from(!matches!(row, Row::Added(_)));
            new += usize::from(!matches!(row, Row::Removed(_)));
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

fn plain(parts: &[Part]) -> String {
    parts.iter().map(|it| it.text.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use crate::diff::{Row, Side, diff};

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
    fn words_of_a_line() {
        let found = diff("It costs 12 € today.\n", "It costs 13 € today.\n");
        assert_eq!(found.words(), "It costs [-12-]{+13+} € today.\n");
        assert_eq!(diff("a b c\n", "x a b c\n").words(), "{+x +}a b c\n");
        assert_eq!(diff("one\n", "two\n").words(), "[-one-]\n{+two+}\n");
    }

    #[test]
    fn two_columns() {
        let found = diff("a\nb\n", "a\nc\nx\n");
        let column = |side| found.side(side).collect::<Vec<_>>();
        assert_eq!(column(Side::Old).len(), column(Side::New).len());
        assert_eq!(found.counts(), (2, 1));
        assert!(matches!(found.rows[0], Row::Same(_)));
    }
}
