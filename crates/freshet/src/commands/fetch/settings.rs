//! Fetch settings from a file and the command line.

use std::fs;

use freshet_fetch::{FetchSettings, InvalidFetchSetting, RawFetchSettings};

use crate::commands::fetch::FetchArguments;
use crate::failure::Failure;

/// Loads the settings; the command line takes precedence over the file.
pub(super) fn load(arguments: &FetchArguments) -> Result<FetchSettings, Failure> {
    let mut raw = match &arguments.settings {
        Some(path) => {
            let name = path.display();
            let text = fs::read_to_string(path).map_err(|error| {
                Failure::new(format!("cannot read the settings {name}: {error}"))
                    .with_hint("give the path of a TOML file; docs/reference/fetching.md shows one")
            })?;
            toml::from_str(&text).map_err(|error| {
                let line = error.span().map(|it| 1 + text[..it.start].matches('\n').count());
                let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
                Failure::new(format!("{name}{line}: {}", describe_error(error)))
                    .with_hint("docs/reference/fetching.md lists the settings")
            })?
        }
        None => RawFetchSettings::default(),
    };
    raw.allow.extend_from_slice(&arguments.allow);
    if arguments.no_robots {
        raw.robots = Some(false);
    }
    raw.contact = arguments.contact.clone().or(raw.contact);
    raw.user_agent = arguments.user_agent.clone().or(raw.user_agent);
    raw.try_into().map_err(|error: InvalidFetchSetting| {
        Failure::new(error)
            .with_hint("docs/reference/fetching.md lists the settings with their defaults")
    })
}

/// Describes a TOML error without the value, which may be a secret in the wrong place.
fn describe_error(mut error: toml::de::Error) -> String {
    let message = error.message().trim_end().to_owned();
    // Without the input the error names the field instead of printing the line.
    error.set_input(None);
    let shown = error.to_string();
    let field = shown.trim_end().rsplit_once("\nin `").map(|(_, rest)| rest.trim_end_matches('`'));
    let is_kind = ["invalid type: ", "invalid value: "].iter().any(|it| message.starts_with(it));
    let reason = match message.rsplit_once(", expected ") {
        Some((_, expected)) if is_kind => format!("is not {}", plain_type_name(expected)),
        _ => message,
    };
    match field {
        Some(field) if reason.starts_with("is ") => format!("the setting `{field}` {reason}"),
        Some(field) => format!("{reason}, in `{field}`"),
        None => reason,
    }
}

/// Translates a Rust type name of serde to a plain description.
fn plain_type_name(expected: &str) -> &str {
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
