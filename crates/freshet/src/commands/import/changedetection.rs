//! Import of changedetection.io: `url-watches.json`, or a file with only the watches.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use freshet_daemon::NewSourceRequest;
use freshet_detect::{DetectSettings, RawDetectSettings, SettingsLayer};
use serde_json::{Map, Value};

use super::entry::{EntryLocation, ImportedSource, InvalidEntry};
use super::format::{open, read_failure};
use super::{EntrySink, Notes};
use crate::commands::settings_arguments::to_stored_json;
use crate::failure::Failure;
use crate::number::pluralize;

/// Maximum size of a file in bytes; it is read into memory.
const MAX_SIZE: u64 = 256 << 20;

/// Parts that could not be imported.
#[derive(Default)]
struct Unsupported {
    /// URLs with templates in them.
    templates: Vec<String>,
    /// Unsupported filters with the URLs of their watches.
    filters: Vec<(String, String)>,
    posts: usize,
    browsers: usize,
}

/// Maximum number of notes of each kind.
const MAX_NOTES: usize = 20;

pub(crate) fn read(path: &Path, sink: EntrySink<'_>) -> Result<Notes, Failure> {
    let mut bytes = Vec::new();
    let mut file = open(path)?.take(MAX_SIZE);
    file.read_to_end(&mut bytes).map_err(|error| read_failure(path, &error))?;
    let name = path.display();
    let failure = |reason: &str| {
        Failure::new(format!("{name}: {reason}"))
            .with_hint("give url-watches.json from a backup of changedetection.io")
    };
    if bytes.len() as u64 == MAX_SIZE {
        return Err(failure("larger than 256 MiB"));
    }
    let all: Value = serde_json::from_slice(&bytes).map_err(|error| {
        Failure::new(format!("{name}:{}: not JSON: {error}", error.line()))
            .with_hint("give the format with --format")
    })?;
    let titles = titles(&all);
    let watches: Vec<(String, &Value)> = match (all.get("watching"), &all) {
        (Some(Value::Object(watches)), _) => named(watches),
        (None, Value::Object(watches)) => named(watches),
        (None, Value::Array(watches)) => {
            watches.iter().enumerate().map(|(at, it)| ((at + 1).to_string(), it)).collect()
        }
        _ => return Err(failure("there are no watches in the file")),
    };
    if watches.iter().all(|(_, watch)| watch.get("url").is_none()) && !watches.is_empty() {
        return Err(failure("there are no watches in the file"));
    }
    let mut unsupported = Unsupported::default();
    for (name, watch) in watches {
        let location = EntryLocation::Watch(name);
        let Some(url) = watch.get("url").and_then(Value::as_str) else {
            sink(Err(InvalidEntry { location, reason: Failure::new("there is no `url`") }))?;
            continue;
        };
        let url = url.trim();
        if url.contains("{{") || url.contains("{%") {
            unsupported.templates.push(url.to_owned());
            continue;
        }
        let mut source = ImportedSource::new(url.strip_prefix("source:").unwrap_or(url), location);
        read_settings(&mut source.request, watch, &titles, &mut unsupported);
        sink(Ok(source))?;
    }
    Ok(unsupported.notes())
}

fn named(watches: &Map<String, Value>) -> Vec<(String, &Value)> {
    watches.iter().map(|(name, watch)| (name.clone(), watch)).collect()
}

/// Returns the titles of the tags by their ids.
fn titles(all: &Value) -> HashMap<String, String> {
    let tags = all.pointer("/settings/application/tags").and_then(Value::as_object);
    let titled = |(id, tag): (&String, &Value)| {
        Some((id.clone(), tag.get("title")?.as_str()?.trim().to_owned()))
    };
    tags.into_iter().flatten().filter_map(titled).collect()
}

fn texts<'a>(watch: &'a Value, field: &str) -> Vec<&'a str> {
    let list = match watch.get(field) {
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(text)) => text.lines().collect(),
        _ => Vec::new(),
    };
    list.into_iter().map(str::trim).filter(|text: &&str| !text.is_empty()).collect()
}

fn read_settings(
    request: &mut NewSourceRequest,
    watch: &Value,
    titles: &HashMap<String, String>,
    unsupported: &mut Unsupported,
) {
    let mut tags: Vec<String> = texts(watch, "tags")
        .into_iter()
        .map(|tag| titles.get(tag).cloned().unwrap_or_else(|| tag.to_owned()))
        .collect();
    let old = watch.get("tag").and_then(Value::as_str).unwrap_or_default();
    tags.extend(old.split(',').map(|tag| tag.trim().to_owned()));
    tags.retain(|tag| !tag.is_empty() && !tag.contains('\n'));
    let settings = &mut request.settings;
    settings.tags = (!tags.is_empty()).then_some(tags);
    settings.paused = watch.get("paused").and_then(Value::as_bool).filter(|paused| *paused);
    settings.max_interval = interval(watch);
    let detection = detection_settings(&request.url, watch, unsupported);
    settings.detect_settings = Some(to_stored_json(&detection)).filter(|text| !text.is_empty());
    let method = watch.get("method").and_then(Value::as_str).unwrap_or("GET");
    unsupported.posts += usize::from(!method.eq_ignore_ascii_case("GET"));
    let backend = watch.get("fetch_backend").and_then(Value::as_str).unwrap_or_default();
    let steps = watch.get("browser_steps").and_then(Value::as_array);
    let browser = backend.contains("webdriver") || steps.is_some_and(|steps| !steps.is_empty());
    unsupported.browsers += usize::from(browser);
}

/// Returns the interval between checks in days, if the watch has its own.
fn interval(watch: &Value) -> Option<f64> {
    if watch.get("time_between_check_use_default").and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let time = watch.get("time_between_check")?;
    let number = |unit: &str| match time.get(unit) {
        Some(Value::Number(number)) => number.as_f64().unwrap_or(0.0),
        Some(Value::String(text)) => text.trim().parse().unwrap_or(0.0),
        _ => 0.0,
    };
    let days = 7.0 * number("weeks")
        + number("days")
        + number("hours") / 24.0
        + number("minutes") / 1440.0
        + number("seconds") / 86_400.0;
    Some(days).filter(|days| *days > 0.0 && days.is_finite())
}

fn detection_settings(
    url: &str,
    watch: &Value,
    unsupported: &mut Unsupported,
) -> RawDetectSettings {
    let mut add_unsupported =
        |text: &str| unsupported.filters.push((url.to_owned(), text.to_owned()));
    let mut selectors = |field: &str| {
        let mut usable = Vec::new();
        for text in texts(watch, field) {
            match to_selector(text) {
                Some(selector) => usable.push(selector),
                None => add_unsupported(text),
            }
        }
        (!usable.is_empty()).then_some(usable)
    };
    let (select, drop) = (selectors("include_filters"), selectors("subtractive_selectors"));
    let mut ignored = Vec::new();
    for text in texts(watch, "ignore_text") {
        let expression = to_expression(text);
        let tried = RawDetectSettings {
            ignore_text: Some(vec![expression.clone()]),
            ..RawDetectSettings::default()
        };
        match is_valid(&tried) {
            true => ignored.push(expression),
            false => add_unsupported(text),
        }
    }
    RawDetectSettings {
        select,
        drop,
        ignore_text: (!ignored.is_empty()).then_some(ignored),
        ..RawDetectSettings::default()
    }
}

/// Converts a filter to a selector or JSON path. Returns `None` for XPath and jq.
fn to_selector(text: &str) -> Option<String> {
    let unsupported = ["xpath:", "xpath1:", "jq:", "jqraw:", "/"];
    if unsupported.iter().any(|prefix| text.starts_with(prefix)) {
        return None;
    }
    let selector = match text.strip_prefix("json:") {
        Some(path) => Some(path.trim()).filter(|path| path.starts_with('$'))?,
        None => text.strip_prefix("css:").unwrap_or(text).trim(),
    };
    let tried = RawDetectSettings {
        select: Some(vec![selector.to_owned()]),
        ..RawDetectSettings::default()
    };
    is_valid(&tried).then(|| selector.to_owned())
}

fn is_valid(settings: &RawDetectSettings) -> bool {
    DetectSettings::resolve(&[SettingsLayer { name: "", settings }]).is_ok()
}

/// Returns an expression for lines that contain a text, or that match `/an expression/`.
fn to_expression(text: &str) -> String {
    let slashed = text.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    match slashed {
        Some((inner, flags)) if flags.chars().all(|it| it.is_ascii_alphabetic()) => {
            let case = if flags.contains('i') { "(?i)" } else { "" };
            format!("{case}.*(?:{inner}).*")
        }
        _ => {
            let mut escaped = String::from("(?i).*");
            for letter in text.chars() {
                if !letter.is_alphanumeric() && letter.is_ascii() && letter != ' ' {
                    escaped.push('\\');
                }
                escaped.push(letter);
            }
            escaped + ".*"
        }
    }
}

impl Unsupported {
    fn notes(&self) -> Notes {
        let mut notes = Notes::new();
        for url in self.templates.iter().take(MAX_NOTES) {
            notes.push(format!("skipped {url}: templates in URLs are not supported"));
        }
        more(&mut notes, self.templates.len(), "URLs with templates were skipped");
        for (url, filter) in self.filters.iter().take(MAX_NOTES) {
            let kind = match filter {
                it if it.starts_with('/') || it.starts_with("xpath") => "XPath",
                it if it.starts_with("jq") => "jq",
                _ => "invalid",
            };
            notes.push(format!("{url}: the filter `{filter}` was not imported: {kind}"));
        }
        more(&mut notes, self.filters.len(), "filters were not imported");
        if !self.filters.is_empty() {
            notes.push(
                "without a filter more content is compared: add CSS selectors or JSON paths with \
                 `freshet set --select`"
                    .to_owned(),
            );
        }
        let mut add = |count: usize, one: &str, many: &str, what: &str| {
            if count > 0 {
                notes.push(format!("{} {what}", pluralize(count, one, many)));
            }
        };
        add(self.posts, "watch", "watches", "with a POST request: fetched with GET");
        add(self.browsers, "watch", "watches", "with a browser: fetched without one");
        notes
    }
}

/// Adds the number of items that have no note of their own.
fn more(notes: &mut Notes, all: usize, what: &str) {
    if all > MAX_NOTES {
        notes.push(format!("{} more {what}", all - MAX_NOTES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_converted_where_an_equivalent_exists() {
        assert_eq!(to_selector("css:#price"), Some("#price".to_owned()));
        assert_eq!(to_selector("div.a > span"), Some("div.a > span".to_owned()));
        assert_eq!(to_selector("json:$.price"), Some("$.price".to_owned()));
        for text in ["//div", "xpath:/html", "jq:.a", "json:price", "div[["] {
            assert_eq!(to_selector(text), None, "{text}");
        }
        assert_eq!(to_expression("a.b (c)"), "(?i).*a\\.b \\(c\\).*");
        assert_eq!(to_expression("/id: \\d+/i"), "(?i).*(?:id: \\d+).*");
    }
}
