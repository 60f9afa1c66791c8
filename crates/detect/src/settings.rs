//! Settings of change detection.

use regex::Regex;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::DetectError;
use crate::document_kind::DocumentKind;
use crate::html::HtmlSettings;
use crate::html::css::{self, SelectorList, SelectorMatcher, SelectorProgram};
use crate::json;

/// Settings as written. A field that is not set is left to the layers below.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawDetectSettings {
    /// Kind of document, instead of the detected one: `html`, `json`, `xml`, `text`, `pdf` or
    /// `bytes`.
    pub kind: Option<String>,
    /// Text of a page that counts: `main` or `visible`.
    pub text: Option<String>,
    /// True to include counters, relative times and other noise.
    pub noise: Option<bool>,
    /// True to include the targets of links.
    pub links: Option<bool>,
    /// True to include the alternative texts and URLs of images.
    pub images: Option<bool>,
    /// Only the parts that these match count: CSS selectors, JSON pointers (`/a/b`) or JSON paths
    /// (`$.a[*].b`).
    pub select: Option<Vec<String>>,
    /// Parts that these match do not count.
    pub drop: Option<Vec<String>>,
    /// Only lines that match one of these regular expressions count.
    pub keep_text: Option<Vec<String>>,
    /// Text that matches one of these regular expressions does not count.
    pub ignore_text: Option<Vec<String>>,
    /// Differences to ignore: `case`, `space`, `numbers`, `dates`, `order`.
    pub ignore: Option<Vec<String>>,
    /// Threshold for slight changes: the share of words that differ. 0.05 is 5 %.
    #[serde(deserialize_with = "deserialize_share")]
    pub below: Option<f64>,
}

/// A share as a number or in percent: `0.05`, `"5%"`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "not a share: 0.05 is 5 %, and so is \"5%\"")]
enum RawShare {
    Number(f64),
    Text(String),
}

fn deserialize_share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    Ok(match Option::deserialize(deserializer)? {
        None => None,
        Some(RawShare::Number(it)) => Some(it),
        Some(RawShare::Text(text)) => {
            let percent = text.trim().strip_suffix('%').map(str::trim_end);
            let number = percent
                .unwrap_or(text.trim())
                .parse::<f64>()
                .map_err(|_| D::Error::custom(format!("`{text}` is not a share: 0.05 is 5 %")))?;
            Some(if percent.is_some() { number / 100.0 } else { number })
        }
    })
}

/// Settings with their origin, for messages.
#[derive(Clone, Copy, Debug)]
pub struct SettingsLayer<'a> {
    /// Name of the origin.
    pub name: &'a str,
    /// Settings from this origin.
    pub settings: &'a RawDetectSettings,
}

/// Differences to ignore.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IgnoreRules {
    pub(crate) case: bool,
    pub(crate) space: bool,
    pub(crate) numbers: bool,
    pub(crate) dates: bool,
    pub(crate) order: bool,
}

/// Validated settings.
#[derive(Clone, Debug, Default)]
pub struct DetectSettings {
    pub(crate) kind: Option<DocumentKind>,
    pub(crate) html: HtmlSettings,
    pub(crate) json: json::JsonOptions,
    pub(crate) keep_text: Vec<Regex>,
    pub(crate) ignore_text: Vec<Regex>,
    pub(crate) ignore: IgnoreRules,
    pub(crate) below: f64,
    pub(crate) digest: u64,
}

impl DetectSettings {
    /// Merges layers, the most specific first: source, pattern, global. Each field is taken from
    /// the first layer that sets it; lists are not merged.
    ///
    /// # Errors
    /// Returns [`DetectError`] with the layer and the field if a value is invalid.
    pub fn resolve(layers: &[SettingsLayer<'_>]) -> Result<Self, DetectError> {
        let mut settings = Self::default();
        let mut merged = RawDetectSettings::default();
        if let Some((layer, kind)) = first_set(layers, |it| it.kind.as_ref()) {
            settings.kind =
                Some(parse_name(layer, "kind", kind, &DocumentKind::ALL, DocumentKind::name)?);
            merged.kind = Some(kind.clone());
        }
        if let Some((layer, text)) = first_set(layers, |it| it.text.as_ref()) {
            let name = |it: bool| if it { "visible" } else { "main" };
            settings.html.visible = parse_name(layer, "text", text, &[false, true], name)?;
            merged.text = Some(text.clone());
        }
        merged.noise = first_set(layers, |it| it.noise.as_ref()).map(|(_, it)| *it);
        merged.links = first_set(layers, |it| it.links.as_ref()).map(|(_, it)| *it);
        merged.images = first_set(layers, |it| it.images.as_ref()).map(|(_, it)| *it);
        settings.html.noise = merged.noise.unwrap_or(false);
        settings.html.links = merged.links.unwrap_or(false);
        settings.html.images = merged.images.unwrap_or(false);

        let select = parse_selectors(layers, "select", |it| it.select.as_ref())?;
        let drop = parse_selectors(layers, "drop", |it| it.drop.as_ref())?;
        settings.html.program = SelectorProgram::new(&select.selectors, &drop.selectors)
            .ok_or_else(|| {
                let too_many = select.selectors.len() >= drop.selectors.len();
                let (field, it) = if too_many { ("select", &select) } else { ("drop", &drop) };
                DetectError::TooManySelectors {
                    layer: it.layer.clone(),
                    field,
                    max: css::MAX_SELECTOR_PARTS,
                }
            })?;
        (settings.json.select, settings.json.drop) = (select.paths, drop.paths);
        (merged.select, merged.drop) = (select.raw, drop.raw);

        (settings.keep_text, merged.keep_text) =
            compile_patterns(layers, "keep_text", |it| it.keep_text.as_ref())?;
        (settings.ignore_text, merged.ignore_text) =
            compile_patterns(layers, "ignore_text", |it| it.ignore_text.as_ref())?;
        if let Some((layer, list)) = first_set(layers, |it| it.ignore.as_ref()) {
            let ignore = &mut settings.ignore;
            for name in list {
                let names = ["case", "space", "numbers", "dates", "order"];
                match parse_name(layer, "ignore", name, &names, |it| it)? {
                    "case" => ignore.case = true,
                    "space" => ignore.space = true,
                    "numbers" => ignore.numbers = true,
                    "dates" => ignore.dates = true,
                    _ => ignore.order = true,
                }
            }
            settings.json.unordered = settings.ignore.order;
            merged.ignore = Some(list.clone());
        }
        if let Some((layer, &value)) = first_set(layers, |it| it.below.as_ref()) {
            if !(0.0..=1.0).contains(&value) {
                return Err(DetectError::InvalidThreshold { layer: layer.to_owned(), value });
            }
            settings.below = value;
        }
        settings.digest = digest(&merged);
        Ok(settings)
    }

    /// Returns all selectors, pointers and paths as written.
    pub(crate) fn selector_sources(&self) -> Vec<String> {
        self.html.program.sources().iter().cloned().chain(self.json.path_sources()).collect()
    }

    /// True if only selected parts count.
    pub(crate) fn has_selection(&self) -> bool {
        !self.json.select.is_empty() || SelectorMatcher::new(&self.html.program).has_selection()
    }

    pub(crate) fn has_no_text_filters(&self) -> bool {
        self.keep_text.is_empty()
            && self.ignore_text.is_empty()
            && self.ignore == IgnoreRules::default()
    }
}

/// Returns the first value that a layer sets, with the name of the layer.
fn first_set<'a, T>(
    layers: &[SettingsLayer<'a>],
    get: impl Fn(&'a RawDetectSettings) -> Option<&'a T>,
) -> Option<(&'a str, &'a T)> {
    layers.iter().find_map(|layer| Some((layer.name, get(layer.settings)?)))
}

/// Returns the value with a name.
fn parse_name<T: Copy>(
    layer: &str,
    field: &'static str,
    value: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, DetectError> {
    all.iter().copied().find(|it| name(*it) == value).ok_or_else(|| DetectError::UnknownValue {
        layer: layer.to_owned(),
        field,
        value: value.to_owned(),
        known: all.iter().map(|it| name(*it)).collect::<Vec<_>>().join(", "),
    })
}

/// A parsed list of selectors and paths.
#[derive(Default)]
struct SelectorLists {
    layer: String,
    selectors: Vec<SelectorList>,
    paths: Vec<json::JsonPath>,
    raw: Option<Vec<String>>,
}

/// Parses selectors, JSON pointers and JSON paths. Pointers begin with `/` and paths with `$`,
/// unlike any selector.
fn parse_selectors<'a>(
    layers: &[SettingsLayer<'a>],
    field: &'static str,
    get: impl Fn(&'a RawDetectSettings) -> Option<&'a Vec<String>>,
) -> Result<SelectorLists, DetectError> {
    let Some((layer, list)) = first_set(layers, get) else { return Ok(SelectorLists::default()) };
    let mut lists = SelectorLists {
        layer: layer.to_owned(),
        raw: Some(list.clone()),
        ..SelectorLists::default()
    };
    for (index, text) in list.iter().enumerate() {
        let fault = |position, message| DetectError::InvalidSelector {
            layer: layer.to_owned(),
            field,
            index,
            text: text.clone(),
            position,
            message,
        };
        if text.starts_with(['/', '$']) {
            lists.paths.push(json::parse(text).map_err(|it| fault(it.position, it.message))?);
        } else {
            lists.selectors.push(css::parse(text).map_err(|it| fault(it.position, it.message))?);
        }
    }
    Ok(lists)
}

type Patterns = (Vec<Regex>, Option<Vec<String>>);

fn compile_patterns<'a>(
    layers: &[SettingsLayer<'a>],
    field: &'static str,
    get: impl Fn(&'a RawDetectSettings) -> Option<&'a Vec<String>>,
) -> Result<Patterns, DetectError> {
    let Some((layer, list)) = first_set(layers, get) else { return Ok((Vec::new(), None)) };
    let mut all = Vec::new();
    for (index, text) in list.iter().enumerate() {
        all.push(Regex::new(text).map_err(|error| DetectError::InvalidRegex {
            layer: layer.to_owned(),
            field,
            index,
            text: text.clone(),
            message: last_line(&error),
        })?);
    }
    Ok((all, Some(list.clone())))
}

/// Returns the last line of a message: the library shows the expression over several lines, and the
/// error after them.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// Returns a digest of all settings that affect extraction: 0 for the default. The same on every
/// machine.
fn digest(settings: &RawDetectSettings) -> u64 {
    let mut bytes = Vec::new();
    let mut field = |name: &str, values: &[String]| {
        if values.is_empty() {
            return;
        }
        bytes.extend_from_slice(name.as_bytes());
        for value in values {
            bytes.push(0);
            bytes.extend_from_slice(&(value.len() as u64).to_le_bytes());
            bytes.extend_from_slice(value.as_bytes());
        }
        bytes.push(1);
    };
    let one = |value: &Option<String>| value.iter().cloned().collect::<Vec<_>>();
    let visible = one(&settings.text).into_iter().filter(|it| it != "main").collect::<Vec<_>>();
    let flag =
        |value: Option<bool>| if value == Some(true) { vec!["1".to_owned()] } else { vec![] };
    let list = |value: &Option<Vec<String>>| value.clone().unwrap_or_default();
    field("kind", &one(&settings.kind));
    field("text", &visible);
    field("noise", &flag(settings.noise));
    field("links", &flag(settings.links));
    field("images", &flag(settings.images));
    field("select", &list(&settings.select));
    field("drop", &list(&settings.drop));
    field("keep_text", &list(&settings.keep_text));
    field("ignore_text", &list(&settings.ignore_text));
    field("ignore", &list(&settings.ignore));
    if bytes.is_empty() { 0 } else { xxh3_64(&bytes) }
}
