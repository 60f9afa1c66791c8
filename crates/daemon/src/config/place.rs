//! Where in a configuration something is wrong, and what may stand there.

/// What the parser says, with the line and the field, and without the line's text: there may be a
/// secret in it.
pub(super) fn of_error(error: &toml::de::Error, text: &str) -> String {
    let message = error.message();
    let Some(span) = error.span() else { return format!(": {message}") };
    let line = 1 + text[..span.start.min(text.len())].matches('\n').count();
    let is_of_value = message.starts_with("invalid type") || message.starts_with("invalid value");
    let fields = fields(text);
    let field = fields.iter().rev().find(|(at, _)| *at <= line).filter(|_| is_of_value);
    match field {
        Some((_, field)) => {
            let allowed = allowed(field).map_or(String::new(), |it| format!("; write {it}"));
            format!(", line {line}: {field}: {message}{allowed}")
        }
        None => format!(", line {line}: {message}"),
    }
}

/// What is wrong with a value, as `field: what`, with the line of the field.
pub(super) fn of_value(what: &str, text: &str) -> String {
    let fields = fields(text);
    let mut field = what.split(": ").next().unwrap_or_default();
    loop {
        if let Some((line, _)) = fields.iter().find(|(_, it)| it == field) {
            return format!(", line {line}: {what}");
        }
        // It may stand in a table that is written on one line.
        match field.rsplit_once('.') {
            Some((table, _)) => field = table,
            None => return format!(": {what}"),
        }
    }
}

/// Fields and tables with their lines, in order: `hosts`, `hosts.gap`.
fn fields(text: &str) -> Vec<(usize, String)> {
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
            fields.push((line, whole));
        }
    }
    fields
}

fn is_key(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && text.chars().all(|it| it.is_alphanumeric() || "._-".contains(it))
}

fn allowed(field: &str) -> Option<&'static str> {
    Some(match field {
        "budget" => "\"500/day\", \"10/s\" or \"20%/day\"",
        "bytes" => "\"2GB/day\"",
        "burst" => "a number of fetches, 1 or more",
        "objective" => "\"harmonic\", \"freshness\", \"age\" or \"capture\"",
        "store" => "a path in quotes: \"freshet.db\"",
        "crew" => "\"auto\", or a number from 1 to 4096",
        "hosts.gap" => "a time in quotes: \"1s\", \"250ms\" or \"2min\"",
        "hosts.connections" => "a whole number, 1 or more",
        "hours.weights" => "a list of 24 numbers, one for each hour",
        "keep.versions" | "keep.observations" => "a whole number, 1 or more",
        "keep.days" => "a number of days above 0",
        "keep.size" => "\"10GB\"",
        "server.url" => "an address in quotes: \"https://freshet.example.com\"",
        "signals.callback" => "an address in quotes: \"https://freshet.example.com\"",
        "signals.indexnow" | "signals.head" => "true or false",
        "signals.head_over" => "a size in quotes: \"64KiB\"",
        "watch.failures" => "a whole number of fetches; 0 for never",
        "watch.quiet" => "a time in quotes: \"30 days\"",
        "notify.attempts" => "a whole number, 1 or more",
        "notify.wait" | "notify.limit" => "a time in quotes: \"15s\"",
        "mail.server" => "the name of a host in quotes: \"mail.example.com\"",
        "mail.port" => "a number from 1 to 65535",
        "mail.tls" => "\"implicit\", \"starttls\" or \"none\"",
        _ => return None,
    })
}
