//! JSON in one form as lines for people: one for each value, with the place where it is.
//!
//! In a place, `+` is the next element of a list and `*` the same one as in the line before, so
//! that a new element changes no line but its own.

/// Lines may take this many times the bytes of the JSON, and a little more: places of deep values
/// are long.
const MOST: usize = 6;

/// One line for each value, or nothing if that would be too long.
pub(crate) fn lines(canonical: &str) -> Option<String> {
    let budget = canonical.len().saturating_mul(MOST).saturating_add(1 << 16);
    let bytes = canonical.as_bytes();
    let mut out = String::new();
    // The place, and where the part of each container in it begins.
    let mut place = String::new();
    let mut levels: Vec<(usize, bool, bool)> = Vec::new();
    // Several values, one in each line, are the elements of a list.
    let several = canonical.trim_end().contains('\n');
    if several {
        levels.push((0, true, true));
    }
    let mut at = 0;
    while at < bytes.len() {
        if out.len() > budget {
            return None;
        }
        match bytes[at] {
            b'\n' | b',' => at += 1,
            b']' | b'}' => {
                levels.pop();
                at += 1;
            }
            open @ (b'[' | b'{') if !matches!(bytes.get(at + 1), Some(b']' | b'}')) => {
                enter(&mut levels, &mut place);
                levels.push((place.len(), open == b'[', true));
                at += 1;
            }
            first => {
                let in_object = levels.last().is_some_and(|it| !it.1);
                let end = if matches!(first, b'[' | b'{') { at + 2 } else { value_end(bytes, at) };
                if in_object && bytes.get(end) == Some(&b':') {
                    place.truncate(levels.last().map_or(0, |it| it.0));
                    place.push('/');
                    push_name(&canonical[at..end], &mut place);
                    at = end + 1;
                    continue;
                }
                enter(&mut levels, &mut place);
                let bare = place.is_empty() || several && levels.len() == 1;
                if !bare {
                    out.push_str(&place);
                    out.push_str(": ");
                }
                out.push_str(&canonical[at..end]);
                out.push('\n');
                // From now on the lists around go on.
                settle(&mut levels, &mut place);
                at = end;
            }
        }
    }
    Some(out)
}

/// The place of the next element, if the value is one.
fn enter(levels: &mut [(usize, bool, bool)], place: &mut String) {
    if let Some((start, true, _)) = levels.last() {
        place.truncate(*start);
        place.push_str("/+");
    }
}

/// Elements that have a line are the same in the next.
fn settle(levels: &mut [(usize, bool, bool)], place: &mut String) {
    for at in (0..levels.len()).rev() {
        let (start, array, fresh) = levels[at];
        if !fresh {
            // Those further out were settled with the last line, unless a new element began since.
            if !array || place.as_bytes().get(start + 1) != Some(&b'+') {
                break;
            }
        }
        levels[at].2 = false;
        if array && place.as_bytes().get(start + 1) == Some(&b'+') && at + 1 < levels.len() {
            place.replace_range(start + 1..start + 2, "*");
        }
    }
}

/// A name in a place. Those that could be taken for something else stay in quotes.
fn push_name(quoted: &str, place: &mut String) {
    let name = quoted.trim_start_matches('"').strip_suffix('"').unwrap_or_default();
    if name.is_empty() || matches!(name, "+" | "*") || name.contains(['"', '/', '\\', ':']) {
        place.push_str(quoted);
    } else {
        place.push_str(name);
    }
}

fn value_end(bytes: &[u8], at: usize) -> usize {
    if bytes[at] != b'"' {
        let length =
            bytes[at..].iter().position(|it| matches!(it, b',' | b']' | b'}' | b'\n' | b':'));
        return length.map_or(bytes.len(), |it| at + it);
    }
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    (end + 1).min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(canonical: &str, expect: &[&str]) {
        let found = lines(canonical).unwrap();
        assert_eq!(found.lines().collect::<Vec<_>>(), expect, "{canonical}");
    }

    #[test]
    fn one_line_for_each_value() {
        check("1\n", &["1"]);
        check(
            "{\"a\":1,\"b\":{\"c\":\"x, y\",\"d\":[]}}\n",
            &["/a: 1", "/b/c: \"x, y\"", "/b/d: []"],
        );
        check(
            "{\"i\":[{\"a\":1,\"b\":2},{\"a\":3}],\"j\":4}\n",
            &["/i/+/a: 1", "/i/*/b: 2", "/i/+/a: 3", "/j: 4"],
        );
        check("{\"a\":1,\"b\":2}\n{\"a\":3}\n4\n", &["/+/a: 1", "/*/b: 2", "/+/a: 3", "4"]);
        check("{\"a/b\":{\"+\":1,\"\":2}}\n", &["/\"a/b\"/\"+\": 1", "/\"a/b\"/\"\": 2"]);
    }

    #[test]
    fn what_differs_has_different_lines() {
        let all = [
            "[[1],[2]]",
            "[[1,2]]",
            "[1,2]",
            "[[1],2]",
            "[1,[2]]",
            "[{\"a\":1},{\"b\":2}]",
            "[{\"a\":1,\"b\":2}]",
            "{\"+\":{\"a\":1}}",
            "[{\"a\":1}]",
            "[[],1]",
            "[[1]]",
            "[\"1\"]",
            "[[[1]],[2]]",
            "[[[1],[2]]]",
            "[[[1,2]]]",
            "[[{\"a\":1}],[{\"b\":2}]]",
            "[[{\"a\":1},{\"b\":2}]]",
            "[[{\"a\":1,\"b\":2}]]",
        ];
        for (i, a) in all.iter().enumerate() {
            for b in &all[i + 1..] {
                assert_ne!(lines(a), lines(b), "{a} {b}");
            }
        }
    }
}
