//! Finds the state of a page in its scripts: `window.__INITIAL_STATE__ = {…}`.

use crate::word_list::word_list;

/// Variables that hold the state of a page.
const STATE_VARIABLES: &[&str] = word_list!("page/state_variables.txt");

/// Function that receives each part of a streamed page (Next.js).
const STREAM_CALL: &str = "__next_f.push(";

/// Calls `take` with each value that is assigned to a state variable.
pub(super) fn for_each_state(script: &str, mut take: impl FnMut(&str)) {
    for name in STATE_VARIABLES {
        let mut rest = script;
        while let Some(at) = rest.find(name) {
            rest = &rest[at + name.len()..];
            let after = rest.trim_start_matches(['"', '\'', ']', ' ']);
            let Some(value) = after.strip_prefix('=').filter(|it| !it.starts_with('=')) else {
                continue;
            };
            let value = value.trim_start();
            if let Some(quoted) = value.strip_prefix("JSON.parse(") {
                let quoted = quoted.trim_start();
                take(&unescape(quoted));
                rest = &quoted[string_len(quoted)..];
            } else if value.starts_with(['{', '[']) {
                let end = value_len(value);
                take(&value[..end]);
                rest = &value[end..];
            } else if value.starts_with('(') {
                // A function that is called with the values.
                take(value);
                break;
            }
        }
    }
}

/// Appends the parts of a streamed page.
pub(super) fn push_streamed_rows(script: &str, out: &mut String) {
    let mut rest = script;
    while let Some(at) = rest.find(STREAM_CALL) {
        rest = &rest[at + STREAM_CALL.len()..];
        let list = &rest[..value_len(rest)];
        if let Some(quote) = list.find('"') {
            out.push_str(&unescape(&list[quote..]));
        }
        rest = &rest[list.len()..];
    }
}

/// Calls `take` with each string, number and truth value of a script, and the name before it.
pub(super) fn for_each_literal(script: &str, mut take: impl FnMut(&str, &str)) {
    let (mut at, mut name) = (0, "");
    while let Some(first) = script[at..].chars().next() {
        let rest = &script[at..];
        let length = match first {
            '"' | '\'' | '`' => string_len(rest),
            _ if first.is_alphanumeric() => {
                let part = |it: char| it.is_alphanumeric() || matches!(it, '.' | '_' | '$');
                rest.find(|it| !part(it)).unwrap_or(rest.len())
            }
            _ => {
                at += first.len_utf8();
                continue;
            }
        };
        let literal = &rest[..length];
        at += length;
        if script[at..].trim_start().starts_with(':') {
            name = literal.trim_matches(['"', '\'']);
        } else {
            let quoted = literal.len() > 2 && !first.is_alphanumeric();
            if quoted || first.is_ascii_digit() || matches!(literal, "true" | "false") {
                take(name, literal);
            }
            name = "";
        }
    }
}

/// Returns the length of the string literal at the start, with its quotes.
fn string_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let Some(&quote) = bytes.first().filter(|it| matches!(it, b'"' | b'\'' | b'`')) else {
        return 0;
    };
    let mut at = 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    text.ceil_char_boundary((at + 1).min(bytes.len()))
}

/// Returns the length of the object or list at the start, with its brackets.
fn value_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' | b'\'' | b'`' => at += string_len(&text[at..]) - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return at + 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Returns the value of the string literal at the start.
fn unescape(text: &str) -> String {
    let end = string_len(text);
    let inner = text[..end].get(1..end.saturating_sub(1)).unwrap_or_default();
    let mut units: Vec<u16> = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        let escape = rest.chars().next().filter(|_| first == '\\');
        let Some(escape) = escape else {
            units.extend_from_slice(first.encode_utf16(&mut [0; 2]));
            continue;
        };
        rest = &rest[escape.len_utf8()..];
        let digits = match escape {
            'x' => 2,
            'u' => 4,
            _ => 0,
        };
        let code = rest.get(..digits).and_then(|it| u16::from_str_radix(it, 16).ok());
        match (escape, code) {
            (_, Some(code)) => {
                units.push(code);
                rest = &rest[digits..];
            }
            ('n', _) => units.push(u16::from(b'\n')),
            ('t', _) => units.push(u16::from(b'\t')),
            ('r' | 'b' | 'f' | '\n', _) => units.push(u16::from(b' ')),
            _ => units.extend_from_slice(escape.encode_utf16(&mut [0; 2])),
        }
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_states(script: &str) -> Vec<String> {
        let mut values = Vec::new();
        for_each_state(script, |it| values.push(it.to_owned()));
        values
    }

    #[test]
    fn assigned_values_end_at_their_brackets() {
        assert_eq!(find_states("window.__STATE__={\"a\":\"}\"};f()"), ["{\"a\":\"}\"}"]);
        assert_eq!(find_states("window['__STATE__'] = [1,[2]];x=[3]"), ["[1,[2]]"]);
        assert_eq!(
            find_states(r#"__STATE__=JSON.parse("{\"a\":\"\u00e9\\n\"}")"#),
            [r#"{"a":"é\n"}"#]
        );
        assert_eq!(find_states("if(window.__STATE__==1){}"), [""; 0]);
        for cut in
            ["__STATE__=", "__STATE__={\"a", "__STATE__=JSON.parse(\"\\", "__STATE__=JSON.parse("]
        {
            assert!(find_states(cut).len() <= 1, "{cut}");
        }
    }

    #[test]
    fn literals_have_the_name_before_them() {
        let mut values = Vec::new();
        for_each_literal(
            "(function(a){return {price:49.9,on:true,x:a}})('é',\"\")",
            |name, value| {
                values.push(format!("{name}={value}"));
            },
        );
        assert_eq!(values, ["price=49.9", "on=true", "='é'"]);
    }

    #[test]
    fn streamed_rows_are_joined() {
        let mut out = String::new();
        push_streamed_rows(
            r#"self.__next_f.push([1,"1:[\"a"]);self.__next_f.push([1,"b\"]\n"])"#,
            &mut out,
        );
        push_streamed_rows("self.__next_f.push([0])", &mut out);
        assert_eq!(out, "1:[\"ab\"]\n");
    }
}
