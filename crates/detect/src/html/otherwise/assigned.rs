//! What a page tells its own scripts in a script: `window.__INITIAL_STATE__ = {…}`.

/// What such a thing is called.
const NAMES: &[&str] = &[
    "__APOLLO_STATE__",
    "__APP_STATE__",
    "__INITIAL_DATA__",
    "__INITIAL_PROPS__",
    "__INITIAL_STATE__",
    "__NEXT_DATA__",
    "__NUXT__",
    "__PRELOADED_STATE__",
    "__REDUX_STATE__",
    "__SERVER_DATA__",
    "__SSR_DATA__",
    "__STATE__",
    "__remixContext",
    "_sharedData",
    "ytInitialData",
    "ytInitialPlayerResponse",
];

/// What is called before each part of a page that a server sends bit by bit.
const STREAM: &str = "__next_f.push(";

/// The value of each assignment to a name for such things.
pub(super) fn each_assigned(script: &str, mut take: impl FnMut(&str)) {
    for name in NAMES {
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
                take(&unescaped(quoted));
                rest = &quoted[string_end(quoted)..];
            } else if value.starts_with(['{', '[']) {
                let end = value_end(value);
                take(&value[..end]);
                rest = &value[end..];
            } else if value.starts_with('(') {
                // A function that is called with what varies.
                take(value);
                break;
            }
        }
    }
}

/// Appends the parts of a page that it was sent bit by bit.
pub(super) fn push_streamed(script: &str, out: &mut String) {
    let mut rest = script;
    while let Some(at) = rest.find(STREAM) {
        rest = &rest[at + STREAM.len()..];
        let list = &rest[..value_end(rest)];
        if let Some(quote) = list.find('"') {
            out.push_str(&unescaped(&list[quote..]));
        }
        rest = &rest[list.len()..];
    }
}

/// Strings, numbers and truth values of a script that is no JSON, each with the name before it.
pub(super) fn each_literal(script: &str, mut take: impl FnMut(&str, &str)) {
    let (mut at, mut name) = (0, "");
    while let Some(first) = script[at..].chars().next() {
        let rest = &script[at..];
        let length = match first {
            '"' | '\'' | '`' => string_end(rest),
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

/// Where a string ends, with its quotes.
fn string_end(text: &str) -> usize {
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

/// Where an object or a list ends, with its brackets.
fn value_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' | b'\'' | b'`' => at += string_end(&text[at..]) - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return at + 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// What the string at the start of a text says.
fn unescaped(text: &str) -> String {
    let end = string_end(text);
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

    fn assigned(script: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_assigned(script, |it| found.push(it.to_owned()));
        found
    }

    #[test]
    fn values_end_where_they_end() {
        assert_eq!(assigned("window.__STATE__={\"a\":\"}\"};f()"), ["{\"a\":\"}\"}"]);
        assert_eq!(assigned("window['__STATE__'] = [1,[2]];x=[3]"), ["[1,[2]]"]);
        assert_eq!(
            assigned(r#"__STATE__=JSON.parse("{\"a\":\"\u00e9\\n\"}")"#),
            [r#"{"a":"é\n"}"#]
        );
        assert_eq!(assigned("if(window.__STATE__==1){}"), [""; 0]);
        for cut in
            ["__STATE__=", "__STATE__={\"a", "__STATE__=JSON.parse(\"\\", "__STATE__=JSON.parse("]
        {
            assert!(assigned(cut).len() <= 1, "{cut}");
        }
    }

    #[test]
    fn literals_have_names() {
        let mut found = Vec::new();
        each_literal("(function(a){return {price:49.9,on:true,x:a}})('é',\"\")", |name, value| {
            found.push(format!("{name}={value}"));
        });
        assert_eq!(found, ["price=49.9", "on=true", "='é'"]);
    }

    #[test]
    fn a_page_sent_bit_by_bit_is_one() {
        let mut out = String::new();
        push_streamed(
            r#"self.__next_f.push([1,"1:[\"a"]);self.__next_f.push([1,"b\"]\n"])"#,
            &mut out,
        );
        push_streamed("self.__next_f.push([0])", &mut out);
        assert_eq!(out, "1:[\"ab\"]\n");
    }
}
