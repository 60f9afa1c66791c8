//! What an owner can say about what counts.

use regex::Regex;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::DetectError;
use crate::html::HtmlOptions;
use crate::html::css::{self, Matcher, Program, Selector};
use crate::json;
use crate::kind::Kind;

/// Settings as they are written. What is not said is left to the layers below.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawSettings {
    /// `html`, `json`, `xml`, `text`, `pdf` or `bytes`, whatever the server says.
    pub kind: Option<String>,
    /// Of a page, what counts: `main` or `visible`.
    pub text: Option<String>,
    /// Counters, relative times and the like count too.
    pub noise: Option<bool>,
    /// Where links lead counts too.
    pub links: Option<bool>,
    /// What stands for images, and their addresses, count too.
    pub images: Option<bool>,
    /// Only what these name counts: CSS selectors, JSON pointers (`/a/b`) or paths (`$.a[*].b`).
    pub select: Option<Vec<String>>,
    /// What these name does not count.
    pub drop: Option<Vec<String>>,
    /// Only lines that match one of these count.
    pub keep_text: Option<Vec<String>>,
    /// What matches one of these does not count.
    pub ignore_text: Option<Vec<String>>,
    /// `case`, `space`, `numbers`, `dates`, `order`.
    pub ignore: Option<Vec<String>>,
    /// Changes of a smaller share of the words than this are slight: 0.05 is 5 %.
    #[serde(deserialize_with = "share")]
    pub below: Option<f64>,
}

/// A share as a number, or in percent: `0.05`, `"5%"`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "not a share: 0.05 is 5 %, and so is \"5%\"")]
enum RawShare {
    Number(f64),
    Text(String),
}

fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
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

/// Settings with the place that they come from, for messages.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a> {
    /// What the place is called.
    pub name: &'a str,
    /// What is said there.
    pub settings: &'a RawSettings,
}

/// What is the same to the owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ignore {
    pub(crate) case: bool,
    pub(crate) space: bool,
    pub(crate) numbers: bool,
    pub(crate) dates: bool,
    pub(crate) order: bool,
}

/// Checked settings.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub(crate) kind: Option<Kind>,
    pub(crate) html: HtmlOptions,
    pub(crate) json: json::Options,
    pub(crate) keep_text: Vec<Regex>,
    pub(crate) ignore_text: Vec<Regex>,
    pub(crate) ignore: Ignore,
    pub(crate) below: f64,
    pub(crate) digest: u64,
}

impl Settings {
    /// Of layers, the first that says something counts: source, pattern, global. A list counts as a
    /// whole.
    ///
    /// # Errors
    /// If a value cannot be meant, with the layer and the field.
    pub fn resolve(layers: &[Layer<'_>]) -> Result<Self, DetectError> {
        let mut settings = Self::default();
        let mut merged = RawSettings::default();
        if let Some((layer, kind)) = first(layers, |it| it.kind.as_ref()) {
            settings.kind = Some(known(layer, "kind", kind, &Kind::ALL, Kind::name)?);
            merged.kind = Some(kind.clone());
        }
        if let Some((layer, text)) = first(layers, |it| it.text.as_ref()) {
            let name = |it: bool| if it { "visible" } else { "main" };
            settings.html.visible = known(layer, "text", text, &[false, true], name)?;
            merged.text = Some(text.clone());
        }
        merged.noise = first(layers, |it| it.noise.as_ref()).map(|(_, it)| *it);
        merged.links = first(layers, |it| it.links.as_ref()).map(|(_, it)| *it);
        merged.images = first(layers, |it| it.images.as_ref()).map(|(_, it)| *it);
        settings.html.noise = merged.noise.unwrap_or(false);
        settings.html.links = merged.links.unwrap_or(false);
        settings.html.images = merged.images.unwrap_or(false);

        let select = places(layers, "select", |it| it.select.as_ref())?;
        let drop = places(layers, "drop", |it| it.drop.as_ref())?;
        settings.html.program =
            Program::new(&select.selectors, &drop.selectors).ok_or_else(|| {
                let too_many = select.selectors.len() >= drop.selectors.len();
                let (field, it) = if too_many { ("select", &select) } else { ("drop", &drop) };
                DetectError::TooManyParts { layer: it.layer.clone(), field, most: css::MOST_PARTS }
            })?;
        (settings.json.select, settings.json.drop) = (select.paths, drop.paths);
        (merged.select, merged.drop) = (select.raw, drop.raw);

        (settings.keep_text, merged.keep_text) =
            expressions(layers, "keep_text", |it| it.keep_text.as_ref())?;
        (settings.ignore_text, merged.ignore_text) =
            expressions(layers, "ignore_text", |it| it.ignore_text.as_ref())?;
        if let Some((layer, list)) = first(layers, |it| it.ignore.as_ref()) {
            let ignore = &mut settings.ignore;
            for name in list {
                let names = ["case", "space", "numbers", "dates", "order"];
                match known(layer, "ignore", name, &names, |it| it)? {
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
        if let Some((layer, &value)) = first(layers, |it| it.below.as_ref()) {
            if !(0.0..=1.0).contains(&value) {
                return Err(DetectError::Below { layer: layer.to_owned(), value });
            }
            settings.below = value;
        }
        settings.digest = digest(&merged);
        Ok(settings)
    }

    /// All selectors, pointers and paths as they are written.
    pub(crate) fn places(&self) -> Vec<String> {
        self.html.program.texts().iter().cloned().chain(self.json.places()).collect()
    }

    /// Whether only some parts count.
    pub(crate) fn selects(&self) -> bool {
        !self.json.select.is_empty() || Matcher::new(&self.html.program).selects()
    }

    pub(crate) fn leaves_text_alone(&self) -> bool {
        self.keep_text.is_empty() && self.ignore_text.is_empty() && self.ignore == Ignore::default()
    }
}

/// The first layer that says something.
fn first<'a, T>(
    layers: &[Layer<'a>],
    get: impl Fn(&'a RawSettings) -> Option<&'a T>,
) -> Option<(&'a str, &'a T)> {
    layers.iter().find_map(|layer| Some((layer.name, get(layer.settings)?)))
}

/// A value by its name.
fn known<T: Copy>(
    layer: &str,
    field: &'static str,
    value: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<T, DetectError> {
    all.iter().copied().find(|it| name(*it) == value).ok_or_else(|| DetectError::Unknown {
        layer: layer.to_owned(),
        field,
        value: value.to_owned(),
        known: all.iter().map(|it| name(*it)).collect::<Vec<_>>().join(", "),
    })
}

/// What a list of places comes to.
#[derive(Default)]
struct Places {
    layer: String,
    selectors: Vec<Selector>,
    paths: Vec<json::Path>,
    raw: Option<Vec<String>>,
}

/// Selectors, and pointers and paths, which begin with a sign that no selector begins with.
fn places<'a>(
    layers: &[Layer<'a>],
    field: &'static str,
    get: impl Fn(&'a RawSettings) -> Option<&'a Vec<String>>,
) -> Result<Places, DetectError> {
    let Some((layer, list)) = first(layers, get) else { return Ok(Places::default()) };
    let mut places =
        Places { layer: layer.to_owned(), raw: Some(list.clone()), ..Places::default() };
    for (index, text) in list.iter().enumerate() {
        let fault = |at, what| DetectError::Pattern {
            layer: layer.to_owned(),
            field,
            index,
            text: text.clone(),
            at,
            what,
        };
        if text.starts_with(['/', '$']) {
            places.paths.push(json::parse(text).map_err(|it| fault(it.at, it.what))?);
        } else {
            places.selectors.push(css::parse(text).map_err(|it| fault(it.at, it.what))?);
        }
    }
    Ok(places)
}

type Expressions = (Vec<Regex>, Option<Vec<String>>);

fn expressions<'a>(
    layers: &[Layer<'a>],
    field: &'static str,
    get: impl Fn(&'a RawSettings) -> Option<&'a Vec<String>>,
) -> Result<Expressions, DetectError> {
    let Some((layer, list)) = first(layers, get) else { return Ok((Vec::new(), None)) };
    let mut all = Vec::new();
    for (index, text) in list.iter().enumerate() {
        all.push(Regex::new(text).map_err(|error| DetectError::Expression {
            layer: layer.to_owned(),
            field,
            index,
            text: text.clone(),
            what: last_line(&error),
        })?);
    }
    Ok((all, Some(list.clone())))
}

/// The library shows the expression over several lines; what is wrong stands in the last.
fn last_line(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default().trim();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

/// What tells settings apart that read a document differently: 0 for the default. The same on every
/// machine.
fn digest(settings: &RawSettings) -> u64 {
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
