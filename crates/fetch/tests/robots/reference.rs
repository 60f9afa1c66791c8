//! Reference implementation that is obviously correct rather than fast: one pass over characters, a
//! table for matching, and a check of every rule.

/// True if an agent may fetch a path.
pub(crate) fn allows(file: &[u8], agent: &str, path: &str) -> bool {
    if path == "/robots.txt" {
        return true;
    }
    let mut own: Vec<(bool, Vec<u8>)> = Vec::new();
    let mut all: Vec<(bool, Vec<u8>)> = Vec::new();
    let mut has_own = false;
    // State of the open group: it names the agent, it names all agents, more agents may follow.
    let (mut is_own, mut is_all, mut agents_may_follow) = (false, false, false);
    for (key, value) in records(file) {
        match key.as_str() {
            "user-agent" | "useragent" | "user agent" => {
                if !agents_may_follow {
                    (is_own, is_all, agents_may_follow) = (false, false, true);
                }
                let text = String::from_utf8_lossy(&value).to_lowercase();
                if text == "*" || text.starts_with("* ") || text.starts_with("*\t") {
                    is_all = true;
                } else if !token(&text).is_empty() && token(&text) == token(&agent.to_lowercase()) {
                    (is_own, has_own) = (true, true);
                }
            }
            "allow" | "disallow" | "dissallow" | "dissalow" | "disalow" | "diasllow"
            | "disallaw" => {
                agents_may_follow = false;
                if is_own {
                    own.push((key == "allow", value.clone()));
                }
                if is_all {
                    all.push((key == "allow", value));
                }
            }
            _ => {}
        }
    }
    let rules = if has_own { own } else { all };
    let path = canonical(path.as_bytes(), b"");
    let mut best: Option<(usize, bool)> = None;
    for (allow, value) in rules.iter().filter(|(_, value)| !value.is_empty()) {
        let is_anchored = value.ends_with(b"$");
        let body = if is_anchored { &value[..value.len() - 1] } else { &value[..] };
        let pattern = canonical(body, b"*");
        let mut whole = pattern.clone();
        if !is_anchored {
            whole.push("*".to_owned());
        }
        if matches(&whole, &path) {
            let length = pattern.iter().map(String::len).sum::<usize>() + usize::from(is_anchored);
            best = best.max(Some((length, *allow)));
        }
    }
    best.is_none_or(|(_, allow)| allow)
}

/// Returns the keys in lower case and the values, character by character.
fn records(file: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut file = file;
    for part in [&b"\xef\xbb\xbf"[..], b"\xef\xbb", b"\xef"] {
        if let Some(rest) = file.strip_prefix(part) {
            file = rest;
            break;
        }
    }
    let mut records = Vec::new();
    let mut line = Vec::new();
    let mut is_comment = false;
    for &byte in file.iter().chain(b"\n") {
        match byte {
            b'\n' | b'\r' => {
                records.extend(record(&line));
                line.clear();
                is_comment = false;
            }
            b'#' => is_comment = true,
            _ if !is_comment => line.push(byte),
            _ => {}
        }
    }
    records
}

fn record(line: &[u8]) -> Option<(String, Vec<u8>)> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\x0c');
    let strip = |part: &[u8]| -> Vec<u8> {
        let kept: Vec<u8> = part.iter().copied().skip_while(is_blank).collect();
        let mut kept: Vec<u8> = kept.into_iter().rev().skip_while(is_blank).collect();
        kept.reverse();
        kept
    };
    let line = strip(line);
    let (key, value) = match line.iter().position(|&byte| byte == b':') {
        Some(at) => (strip(&line[..at]), strip(&line[at + 1..])),
        None => {
            let words: Vec<&[u8]> = line.split(is_blank).filter(|word| !word.is_empty()).collect();
            let [key, value] = words[..] else { return None };
            (key.to_vec(), value.to_vec())
        }
    };
    Some((String::from_utf8(key).ok()?.to_lowercase(), value))
}

fn token(text: &str) -> &str {
    let end = text.find(|it: char| !(it.is_ascii_alphabetic() || it == '-' || it == '_'));
    &text[..end.unwrap_or(text.len())]
}

/// Returns the normalized characters of a path, with encoded bytes as three characters and `*` for
/// wildcards.
fn canonical(text: &[u8], special: &[u8]) -> Vec<String> {
    let mut units = Vec::new();
    let mut rest = text;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if special.contains(&byte) {
            units.push("*".to_owned());
            continue;
        }
        let mut value = byte;
        let mut was_encoded = false;
        if byte == b'%' {
            let digits = rest.get(..2).and_then(|it| std::str::from_utf8(it).ok());
            let digits = digits.filter(|it| it.chars().all(|it| it.is_ascii_hexdigit()));
            if let Some(decoded) = digits.and_then(|it| u8::from_str_radix(it, 16).ok()) {
                (value, was_encoded) = (decoded, true);
                rest = &rest[2..];
            }
        }
        let is_unreserved = value.is_ascii_alphanumeric() || "-._~".contains(char::from(value));
        let is_reserved = ":/?#[]@!&'()+,;=".contains(char::from(value)) && value < 128;
        let shown: String = if (is_unreserved && value < 128) || (is_reserved && !was_encoded) {
            char::from(value).to_string()
        } else {
            format!("%{value:02X}")
        };
        units.extend(shown.chars().map(String::from));
    }
    units
}

/// Matches with the table of pattern prefixes and path prefixes.
fn matches(pattern: &[String], path: &[String]) -> bool {
    let mut row = vec![false; path.len() + 1];
    row[0] = true;
    for unit in pattern {
        let mut next = vec![false; path.len() + 1];
        if unit == "*" {
            let mut reached = false;
            for (at, cell) in next.iter_mut().enumerate() {
                reached |= row[at];
                *cell = reached;
            }
        } else {
            for at in 0..path.len() {
                next[at + 1] = row[at] && path[at] == *unit;
            }
        }
        row = next;
    }
    row[path.len()]
}
