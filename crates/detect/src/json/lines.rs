//! Canonical JSON as lines for people: one line for each value, with its path.
//!
//! In a path, `+` is the next element of a list and `*` the same element as in the line before, so
//! that a new element changes no line but its own.

/// Maximum ratio of the lines to the JSON: paths of deep values are long.
const MAX_GROWTH: usize = 6;

/// Returns one line for each value, or `None` if the lines would be too long.
pub(crate) fn lines(canonical: &str) -> Option<String> {
    let budget = canonical.len().saturating_mul(MAX_GROWTH).saturating_add(1 << 16);
    let bytes = canonical.as_bytes();
    let mut out = String::new();
    // The path, and for each container: the start of its part of the path, whether it is a list,
    // and whether its current element has no line yet.
    let mut path = String::new();
    let mut levels: Vec<(usize, bool, bool)> = Vec::new();
    // Several values in lines are the elements of a list.
    let has_several_values = canonical.trim_end().contains('\n');
    if has_several_values {
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
                start_element(&mut levels, &mut path);
                levels.push((path.len(), open == b'[', true));
                at += 1;
            }
            first_byte => {
                let in_object = levels.last().is_some_and(|it| !it.1);
                let end =
                    if matches!(first_byte, b'[' | b'{') { at + 2 } else { value_end(bytes, at) };
                if in_object && bytes.get(end) == Some(&b':') {
                    path.truncate(levels.last().map_or(0, |it| it.0));
                    path.push('/');
                    push_name(&canonical[at..end], &mut path);
                    at = end + 1;
                    continue;
                }
                start_element(&mut levels, &mut path);
                let has_no_path = path.is_empty() || has_several_values && levels.len() == 1;
                if !has_no_path {
                    out.push_str(&path);
                    out.push_str(": ");
                }
                out.push_str(&canonical[at..end]);
                out.push('\n');
                // The next value is in the same elements of the lists around it.
                mark_elements_seen(&mut levels, &mut path);
                at = end;
            }
        }
    }
    Some(out)
}

/// Starts the next element, if the value is one.
fn start_element(levels: &mut [(usize, bool, bool)], path: &mut String) {
    if let Some((start, true, _)) = levels.last() {
        path.truncate(*start);
        path.push_str("/+");
    }
}

/// Turns `+` into `*` for elements that have a line.
fn mark_elements_seen(levels: &mut [(usize, bool, bool)], path: &mut String) {
    for at in (0..levels.len()).rev() {
        let (start, array, is_new) = levels[at];
        if !is_new {
            // Outer lists were done with the last line, unless a new element began since.
            if !array || path.as_bytes().get(start + 1) != Some(&b'+') {
                break;
            }
        }
        levels[at].2 = false;
        if array && path.as_bytes().get(start + 1) == Some(&b'+') && at + 1 < levels.len() {
            path.replace_range(start + 1..start + 2, "*");
        }
    }
}

/// Appends a name to a path. An ambiguous name stays in quotes.
fn push_name(quoted: &str, path: &mut String) {
    let name = quoted.trim_start_matches('"').strip_suffix('"').unwrap_or_default();
    if name.is_empty() || matches!(name, "+" | "*") || name.contains(['"', '/', '\\', ':']) {
        path.push_str(quoted);
    } else {
        path.push_str(name);
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
    fn different_json_has_different_lines() {
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
