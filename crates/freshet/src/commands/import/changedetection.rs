//! What changedetection.io keeps of its watches: `url-watches.json`, or the watches alone.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use freshet_daemon::NewSourceRequest;
use freshet_detect::{Layer, RawSettings, Settings};
use serde_json::{Map, Value};

use super::format::{open, unreadable};
use super::location::{Bad, Found, Place};
use super::{Each, Notes};
use crate::commands::settings_arguments::written;
use crate::failure::Failure;
use crate::number::plural;

/// Bytes of a file at most: it is read as a whole.
const LARGEST: u64 = 256 << 20;

/// What could not be taken over.
#[derive(Default)]
struct Lost {
    /// URLs with templates in them.
    templates: Vec<String>,
    /// Filters, with the URLs that they were for.
    filters: Vec<(String, String)>,
    posts: usize,
    browsers: usize,
}

/// Losses of a kind that are told one by one.
const TOLD: usize = 20;

pub(crate) fn read(path: &Path, each: Each<'_>) -> Result<Notes, Failure> {
    let mut bytes = Vec::new();
    let mut file = open(path)?.take(LARGEST);
    file.read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    let name = path.display();
    let fault = |what: &str| {
        Failure::new(format!("{name}: {what}"))
            .hint("give url-watches.json, from the backup that changedetection.io makes")
    };
    if bytes.len() as u64 == LARGEST {
        return Err(fault("larger than 256 MiB"));
    }
    let all: Value = serde_json::from_slice(&bytes).map_err(|error| {
        Failure::new(format!("{name}:{}: not JSON: {error}", error.line()))
            .hint("name what it is with --format")
    })?;
    let titles = titles(&all);
    let watches: Vec<(String, &Value)> = match (all.get("watching"), &all) {
        (Some(Value::Object(watches)), _) => named(watches),
        (None, Value::Object(watches)) => named(watches),
        (None, Value::Array(watches)) => {
            watches.iter().enumerate().map(|(at, it)| ((at + 1).to_string(), it)).collect()
        }
        _ => return Err(fault("there are no watches in it")),
    };
    if watches.iter().all(|(_, watch)| watch.get("url").is_none()) && !watches.is_empty() {
        return Err(fault("there are no watches in it"));
    }
    let mut lost = Lost::default();
    for (name, watch) in watches {
        let place = Place::Watch(name);
        let Some(url) = watch.get("url").and_then(Value::as_str) else {
            each(Err(Bad { place, why: Failure::new("it has no `url`") }))?;
            continue;
        };
        let url = url.trim();
        if url.contains("{{") || url.contains("{%") {
            lost.templates.push(url.to_owned());
            continue;
        }
        let mut found = Found::new(url.strip_prefix("source:").unwrap_or(url), place);
        describe(&mut found.wanted, watch, &titles, &mut lost);
        each(Ok(found))?;
    }
    Ok(lost.notes())
}

fn named(watches: &Map<String, Value>) -> Vec<(String, &Value)> {
    watches.iter().map(|(name, watch)| (name.clone(), watch)).collect()
}

/// Titles of tags by their numbers.
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

fn describe(
    wanted: &mut NewSourceRequest,
    watch: &Value,
    titles: &HashMap<String, String>,
    lost: &mut Lost,
) {
    let mut tags: Vec<String> = texts(watch, "tags")
        .into_iter()
        .map(|tag| titles.get(tag).cloned().unwrap_or_else(|| tag.to_owned()))
        .collect();
    let old = watch.get("tag").and_then(Value::as_str).unwrap_or_default();
    tags.extend(old.split(',').map(|tag| tag.trim().to_owned()));
    tags.retain(|tag| !tag.is_empty() && !tag.contains('\n'));
    let given = &mut wanted.settings;
    given.tags = (!tags.is_empty()).then_some(tags);
    given.paused = watch.get("paused").and_then(Value::as_bool).filter(|paused| *paused);
    given.max_interval = interval(watch);
    let settings = settings(&wanted.url, watch, lost);
    given.settings = Some(written(&settings)).filter(|text| !text.is_empty());
    let method = watch.get("method").and_then(Value::as_str).unwrap_or("GET");
    lost.posts += usize::from(!method.eq_ignore_ascii_case("GET"));
    let backend = watch.get("fetch_backend").and_then(Value::as_str).unwrap_or_default();
    let steps = watch.get("browser_steps").and_then(Value::as_array);
    let browser = backend.contains("webdriver") || steps.is_some_and(|steps| !steps.is_empty());
    lost.browsers += usize::from(browser);
}

/// Days between checks, if the watch has a time of its own.
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

fn settings(url: &str, watch: &Value, lost: &mut Lost) -> RawSettings {
    let mut lose = |text: &str| lost.filters.push((url.to_owned(), text.to_owned()));
    let mut places = |field: &str| {
        let mut usable = Vec::new();
        for text in texts(watch, field) {
            match place(text) {
                Some(place) => usable.push(place),
                None => lose(text),
            }
        }
        (!usable.is_empty()).then_some(usable)
    };
    let (select, drop) = (places("include_filters"), places("subtractive_selectors"));
    let mut ignored = Vec::new();
    for text in texts(watch, "ignore_text") {
        let expression = expression(text);
        let tried =
            RawSettings { ignore_text: Some(vec![expression.clone()]), ..RawSettings::default() };
        match can_be_meant(&tried) {
            true => ignored.push(expression),
            false => lose(text),
        }
    }
    RawSettings {
        select,
        drop,
        ignore_text: (!ignored.is_empty()).then_some(ignored),
        ..RawSettings::default()
    }
}

/// A filter as a selector or a path, if it can be one: XPath and jq cannot.
fn place(text: &str) -> Option<String> {
    let other = ["xpath:", "xpath1:", "jq:", "jqraw:", "/"];
    if other.iter().any(|prefix| text.starts_with(prefix)) {
        return None;
    }
    let place = match text.strip_prefix("json:") {
        Some(path) => Some(path.trim()).filter(|path| path.starts_with('$'))?,
        None => text.strip_prefix("css:").unwrap_or(text).trim(),
    };
    let tried = RawSettings { select: Some(vec![place.to_owned()]), ..RawSettings::default() };
    can_be_meant(&tried).then(|| place.to_owned())
}

fn can_be_meant(settings: &RawSettings) -> bool {
    Settings::resolve(&[Layer { name: "", settings }]).is_ok()
}

/// Lines that hold a text, or match `/an expression/`, do not count.
fn expression(text: &str) -> String {
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

impl Lost {
    fn notes(&self) -> Notes {
        let mut notes = Notes::new();
        for url in self.templates.iter().take(TOLD) {
            notes.push(format!("left out {url}: a template, and freshet fetches URLs as they are"));
        }
        more(&mut notes, self.templates.len(), "URLs with templates are left out");
        for (url, filter) in self.filters.iter().take(TOLD) {
            let kind = match filter {
                it if it.starts_with('/') || it.starts_with("xpath") => "XPath",
                it if it.starts_with("jq") => "jq",
                _ => "it cannot be read",
            };
            notes.push(format!("{url}: the filter `{filter}` is not taken over: {kind}"));
        }
        more(&mut notes, self.filters.len(), "filters are not taken over");
        if !self.filters.is_empty() {
            let instead = "freshet has CSS selectors and JSON paths";
            notes.push(format!("without a filter more counts: {instead}; `freshet set --select`"));
        }
        let mut say = |count: usize, one: &str, many: &str, what: &str| {
            if count > 0 {
                notes.push(format!("{} {what}", plural(count, one, many)));
            }
        };
        say(self.posts, "watch", "watches", "with a POST: fetched with GET");
        say(self.browsers, "watch", "watches", "with a browser: fetched without one");
        notes
    }
}

/// Those that are not told one by one.
fn more(notes: &mut Notes, all: usize, what: &str) {
    if all > TOLD {
        notes.push(format!("{} more {what}", all - TOLD));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_taken_over_where_they_mean_the_same() {
        assert_eq!(place("css:#price"), Some("#price".to_owned()));
        assert_eq!(place("div.a > span"), Some("div.a > span".to_owned()));
        assert_eq!(place("json:$.price"), Some("$.price".to_owned()));
        for lost in ["//div", "xpath:/html", "jq:.a", "json:price", "div[["] {
            assert_eq!(place(lost), None, "{lost}");
        }
        assert_eq!(expression("a.b (c)"), "(?i).*a\\.b \\(c\\).*");
        assert_eq!(expression("/id: \\d+/i"), "(?i).*(?:id: \\d+).*");
    }
}
