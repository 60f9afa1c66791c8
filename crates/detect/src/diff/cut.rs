//! Differences short enough to be looked at.

use super::{Diff, Part, Row};

impl Diff {
    /// The same with lines of at most about `longest` characters. What is left out of a line is said
    /// in its place.
    #[must_use]
    pub fn cut(self, longest: usize) -> Self {
        let rows = self.rows.into_iter().map(|row| match row {
            Row::Same(line) => Row::Same(cut(line, longest, Keep::Start)),
            Row::Removed(line) => Row::Removed(cut(line, longest, Keep::Start)),
            Row::Added(line) => Row::Added(cut(line, longest, Keep::Start)),
            Row::Changed { old, new } => {
                Row::Changed { old: cut_parts(old, longest), new: cut_parts(new, longest) }
            }
        });
        Self { rows: rows.collect() }
    }
}

/// Which part of a text is shown.
#[derive(Clone, Copy)]
enum Keep {
    Start,
    End,
    Ends,
}

/// What changed in a line, with a little of what is around it.
fn cut_parts(parts: Vec<Part>, longest: usize) -> Vec<Part> {
    if parts.iter().map(|it| it.text.len()).sum::<usize>() <= longest {
        return parts;
    }
    let last = parts.len() - 1;
    // Each part gets its share, so that a line of many parts is not long either.
    let share = (longest / parts.len()).max(MIN_SHARE);
    let mut shown = 0;
    let mut out: Vec<Part> = Vec::new();
    for (at, Part { text, same }) in parts.into_iter().enumerate() {
        if shown > longest {
            let count = text.chars().count();
            match out.last_mut() {
                Some(part) if part.same == same => part.text.push_str(&left_out(count)),
                _ => out.push(Part { text: left_out(count), same }),
            }
            break;
        }
        let keep = match (same, at) {
            (false, _) => Keep::Start,
            (true, 0) => Keep::End,
            (true, _) if at == last => Keep::Start,
            (true, _) => Keep::Ends,
        };
        let text = cut(text, share, keep);
        shown += text.len();
        out.push(Part { text, same });
    }
    out
}

/// Characters of each part that are shown in any case.
const MIN_SHARE: usize = 40;

fn left_out(count: usize) -> String {
    format!("[… {count} characters …]")
}

fn cut(text: String, longest: usize, keep: Keep) -> String {
    // Bytes are at least as many as characters.
    if text.len() <= longest {
        return text;
    }
    let count = text.chars().count();
    if count <= longest {
        return text;
    }
    let place = |characters: usize| {
        text.char_indices().nth(characters).map_or(text.len(), |(place, _)| place)
    };
    let (head, tail) = match keep {
        Keep::Start => (longest, 0),
        Keep::End => (0, longest),
        Keep::Ends => (longest / 2, longest / 2),
    };
    let said = left_out(count - head - tail);
    format!("{}{said}{}", &text[..place(head)], &text[place(count - tail)..])
}

#[cfg(test)]
mod tests {
    use crate::diff;

    #[test]
    fn long_lines_say_what_is_left_out() {
        let long = "é".repeat(5000);
        let found = diff("", &format!("{long}\n")).cut(10).unified(0);
        assert_eq!(found, format!("@@ -0,0 +1,1 @@\n+{}[… 4990 characters …]\n", "é".repeat(10)));
        let words = "word ".repeat(1000);
        let found = diff(&format!("{words}12 {words}"), &format!("{words}13 {words}")).cut(200);
        let shown = found.words();
        assert!(shown.contains("[-12-]{+13+}") && shown.len() < 500, "{shown}");
        let short = diff("a b\n", "a c\n");
        assert_eq!(short.clone().cut(100), short);
    }
}
