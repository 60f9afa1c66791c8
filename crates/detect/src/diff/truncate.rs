//! Truncates the lines of diffs.

use super::{Diff, DiffPart, DiffRow};

impl Diff {
    /// Truncates lines to about `max_len` characters. The number of omitted characters takes their
    /// place.
    #[must_use]
    pub fn truncate_lines(self, max_len: usize) -> Self {
        let rows = self.rows.into_iter().map(|row| match row {
            DiffRow::Same(line) => DiffRow::Same(truncate_text(line, max_len, KeptPart::Start)),
            DiffRow::Removed(line) => {
                DiffRow::Removed(truncate_text(line, max_len, KeptPart::Start))
            }
            DiffRow::Added(line) => DiffRow::Added(truncate_text(line, max_len, KeptPart::Start)),
            DiffRow::Changed { old, new } => DiffRow::Changed {
                old: truncate_parts(old, max_len),
                new: truncate_parts(new, max_len),
            },
        });
        Self { rows: rows.collect() }
    }
}

/// The part of a text that is kept.
#[derive(Clone, Copy)]
enum KeptPart {
    Start,
    End,
    Ends,
}

/// Truncates the parts of a changed line, with a little context around each change.
fn truncate_parts(parts: Vec<DiffPart>, max_len: usize) -> Vec<DiffPart> {
    if parts.iter().map(|it| it.text.len()).sum::<usize>() <= max_len {
        return parts;
    }
    let last = parts.len() - 1;
    // Each part gets an equal share, so that a line of many parts is not long either.
    let part_len = (max_len / parts.len()).max(MIN_PART_LEN);
    let mut shown = 0;
    let mut out: Vec<DiffPart> = Vec::new();
    for (at, DiffPart { text, is_same }) in parts.into_iter().enumerate() {
        if shown > max_len {
            let count = text.chars().count();
            match out.last_mut() {
                Some(part) if part.is_same == is_same => part.text.push_str(&omission(count)),
                _ => out.push(DiffPart { text: omission(count), is_same }),
            }
            break;
        }
        let kept = match (is_same, at) {
            (false, _) => KeptPart::Start,
            (true, 0) => KeptPart::End,
            (true, _) if at == last => KeptPart::Start,
            (true, _) => KeptPart::Ends,
        };
        let text = truncate_text(text, part_len, kept);
        shown += text.len();
        out.push(DiffPart { text, is_same });
    }
    out
}

/// Number of characters that are kept of each part in any case.
const MIN_PART_LEN: usize = 40;

fn omission(count: usize) -> String {
    format!("[… {count} characters …]")
}

fn truncate_text(text: String, max_len: usize, kept: KeptPart) -> String {
    // There are at least as many bytes as characters.
    if text.len() <= max_len {
        return text;
    }
    let count = text.chars().count();
    if count <= max_len {
        return text;
    }
    let offset = |characters: usize| {
        text.char_indices().nth(characters).map_or(text.len(), |(offset, _)| offset)
    };
    let (head, tail) = match kept {
        KeptPart::Start => (max_len, 0),
        KeptPart::End => (0, max_len),
        KeptPart::Ends => (max_len / 2, max_len / 2),
    };
    let omission_text = omission(count - head - tail);
    format!("{}{omission_text}{}", &text[..offset(head)], &text[offset(count - tail)..])
}

#[cfg(test)]
mod tests {
    use crate::diff;

    #[test]
    fn truncated_lines_say_how_much_is_omitted() {
        let long = "é".repeat(5000);
        let found = diff("", &format!("{long}\n")).truncate_lines(10).unified(0);
        assert_eq!(found, format!("@@ -0,0 +1,1 @@\n+{}[… 4990 characters …]\n", "é".repeat(10)));
        let words = "word ".repeat(1000);
        let found =
            diff(&format!("{words}12 {words}"), &format!("{words}13 {words}")).truncate_lines(200);
        let shown = found.words();
        assert!(shown.contains("[-12-]{+13+}") && shown.len() < 500, "{shown}");
        let short = diff("a b\n", "a c\n");
        assert_eq!(short.clone().truncate_lines(100), short);
    }
}
