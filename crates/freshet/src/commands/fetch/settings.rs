//! The settings of a fetch, from their file and the command line.

use std::fs;

use freshet_fetch::{InvalidSetting, RawSettings, Settings};

use crate::commands::fetch::FetchArguments;
use crate::failure::Failure;

pub(super) fn of(arguments: &FetchArguments) -> Result<Settings, Failure> {
    let mut raw = match &arguments.settings {
        Some(path) => {
            let name = path.display();
            let text = fs::read_to_string(path).map_err(|error| {
                Failure::new(format!("cannot read the settings {name}: {error}"))
                    .hint("give the path of a TOML file; docs/fetch.md shows one")
            })?;
            toml::from_str(&text).map_err(|error| {
                let place = error.span().map(|it| 1 + text[..it.start].matches('\n').count());
                let line = place.map(|line| format!(", line {line}")).unwrap_or_default();
                Failure::new(format!("{name}{line}: {}", fault(error)))
                    .hint("docs/fetch.md lists the settings")
            })?
        }
        None => RawSettings::default(),
    };
    raw.allow.extend_from_slice(&arguments.allow);
    if arguments.no_robots {
        raw.robots = Some(false);
    }
    raw.contact = arguments.contact.clone().or(raw.contact);
    raw.user_agent = arguments.user_agent.clone().or(raw.user_agent);
    raw.try_into().map_err(|error: InvalidSetting| {
        Failure::new(error).hint("docs/fetch.md lists the settings with their defaults")
    })
}

/// What is wrong with a file, without the value that stands there: it may be a secret in the wrong place.
fn fault(mut error: toml::de::Error) -> String {
    let message = error.message().trim_end().to_owned();
    // Without the text the error names the field instead of showing the line.
    error.set_input(None);
    let shown = error.to_string();
    let field = shown.trim_end().rsplit_once("\nin `").map(|(_, rest)| rest.trim_end_matches('`'));
    let is_kind = ["invalid type: ", "invalid value: "].iter().any(|it| message.starts_with(it));
    let what = match message.rsplit_once(", expected ") {
        Some((_, expected)) if is_kind => format!("is not {}", plain(expected)),
        _ => message,
    };
    match field {
        Some(field) if what.starts_with("is ") => format!("the setting `{field}` {what}"),
        Some(field) => format!("{what}, in `{field}`"),
        None => what,
    }
}

/// What a setting should be, in words that say it without Rust.
fn plain(expected: &str) -> &str {
    match expected {
        "a string" => "a text",
        "a sequence" => "a list",
        "a map" => "a table",
        "a boolean" => "true or false",
        "path string" => "a path",
        "u32" | "u64" => "a whole number that fits",
        other => other,
    }
}
