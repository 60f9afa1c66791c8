//! Locates errors in a configuration file and lists the allowed values.

use std::path::Path;

/// Deprecated keys that still work, with their new names.
const DEPRECATED: &[(&str, &str)] = &[("crew", "concurrency")];

/// Returns a hint for each deprecated key in the text of a file.
pub(super) fn deprecation_hints(text: &str, path: &Path) -> Vec<String> {
    let mut hints = Vec::new();
    // Only keys of the top level are deprecated; they come before the first table.
    for (line, text) in (1..).zip(text.lines()).take_while(|(_, it)| !it.trim().starts_with('[')) {
        let key = text.split_once('=').map(|(key, _)| key.trim());
        for (old, new) in DEPRECATED.iter().filter(|(old, _)| key == Some(*old)) {
            hints.push(format!(
                "{}, line {line}: `{old}` is deprecated, use `{new}`",
                path.display()
            ));
        }
    }
    hints
}

/// Formats a parser error with line and field, but without the line's text, which may contain a
/// secret.
pub(super) fn locate_parse_error(error: &toml::de::Error, text: &str) -> String {
    let message = error.message();
    let Some(span) = error.span() else { return format!(": {message}") };
    let line = 1 + text[..span.start.min(text.len())].matches('\n').count();
    let is_of_value = message.starts_with("invalid type") || message.starts_with("invalid value");
    let fields = field_lines(text);
    let field = fields.iter().rev().find(|(at, _)| *at <= line).filter(|_| is_of_value);
    match field {
        Some((_, field)) => {
            let allowed = allowed_values(field).map_or(String::new(), |it| format!("; use {it}"));
            format!(", line {line}: {field}: {message}{allowed}")
        }
        None => format!(", line {line}: {message}"),
    }
}

/// Prefixes a validation error, `field: reason`, with the line of the field.
pub(super) fn locate_value_error(error: &str, text: &str) -> String {
    let fields = field_lines(text);
    let mut field = error.split(": ").next().unwrap_or_default();
    loop {
        if let Some((line, _)) = fields.iter().find(|(_, it)| it == field) {
            return format!(", line {line}: {error}");
        }
        // The field may be part of an inline table.
        match field.rsplit_once('.') {
            Some((table, _)) => field = table,
            None => return format!(": {error}"),
        }
    }
}

/// Returns the fields and tables in order, with their lines: `hosts`, `hosts.gap`.
fn field_lines(text: &str) -> Vec<(usize, String)> {
    let mut table = String::new();
    let mut fields = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.trim();
        if let Some(name) = text.strip_prefix('[') {
            name.trim_start_matches('[')
                .split(']')
                .next()
                .unwrap_or_default()
                .clone_into(&mut table);
            fields.push((line, table.clone()));
        } else if let Some((key, _)) = text.split_once('=').filter(|(key, _)| is_key(key)) {
            let key = key.trim();
            let whole = if table.is_empty() { key.to_owned() } else { format!("{table}.{key}") };
            let renamed = DEPRECATED.iter().find(|(old, _)| *old == whole);
            fields.push((line, renamed.map_or(whole, |(_, new)| (*new).to_owned())));
        }
    }
    fields
}

fn is_key(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.chars().all(|it| it.is_alphanumeric() || "._-".contains(it))
}

fn allowed_values(field: &str) -> Option<&'static str> {
    Some(match field {
        "budget" => "\"500/day\", \"10/s\" or \"20%/day\"",
        "bytes" => "\"2GB/day\"",
        "burst" => "a number of fetches, 1 or more",
        "objective" => "\"harmonic\", \"freshness\", \"age\" or \"capture\"",
        "store" => "a path in quotes: \"freshet.db\"",
        "concurrency" => "\"auto\", or a number from 0 to 4096",
        "hosts.gap" => "a duration in quotes: \"1s\", \"250ms\" or \"2min\"",
        "hosts.connections" => "a whole number, 1 or more",
        "hours.weights" => "a list of 24 numbers, one for each hour",
        "keep.versions" | "keep.observations" => "a whole number, 1 or more",
        "keep.days" => "a number of days above 0",
        "keep.size" => "\"10GB\"",
        "server.url" => "a URL in quotes: \"https://freshet.example.com\"",
        "signals.callback" => "a URL in quotes: \"https://freshet.example.com\"",
        "signals.indexnow" | "signals.head" => "true or false",
        "signals.head_over" => "a size in quotes: \"64KiB\"",
        "watch.failures" => "a whole number of fetches; 0 for never",
        "watch.quiet" => "a duration in quotes: \"30 days\"",
        "notify.attempts" => "a whole number, 1 or more",
        "notify.wait" | "notify.limit" => "a duration in quotes: \"15s\"",
        "mail.server" => "a host name in quotes: \"mail.example.com\"",
        "mail.port" => "a number from 1 to 65535",
        "mail.tls" => "\"implicit\", \"starttls\" or \"none\"",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deprecated_key_works_and_is_named_with_its_line() {
        let path = Path::new("freshet.toml");
        let old = "budget = \"1/day\"\ncrew = 3\n[hosts]\ngap = \"1s\"\n";
        let config = super::super::Config::parse(old, path).unwrap();
        assert_eq!(config.fetch_concurrency, super::super::ConcurrencySetting::Fixed(3));
        assert_eq!(
            config.deprecation_hints,
            ["freshet.toml, line 2: `crew` is deprecated, use `concurrency`"]
        );
        let new = old.replace("crew", "concurrency");
        let config = super::super::Config::parse(&new, path).unwrap();
        assert!(config.deprecation_hints.is_empty());
        let both = super::super::Config::parse("crew = 3\nconcurrency = 4\n", path);
        assert!(both.err().unwrap().to_string().contains("duplicate field"));
        let wrong = super::super::Config::parse("\ncrew = 5000\n", path);
        let message = wrong.err().unwrap().to_string();
        assert!(message.contains("line 2: concurrency: `5000`"), "{message}");
    }
}
