//! Change detection of a source: settings, with a preview before they are saved.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use freshet_daemon::{DaemonHandle, SourceEdit, SourceSelector, SourceSettings};
use freshet_detect::{
    DetectError, DetectSettings, Document, RawDetectSettings, SettingsLayer, TextScope,
};
use freshet_store::{Reader, Source, StoreError, Version};

use super::{SourceHeader, find};
use crate::app::App;
use crate::extractors::PathParams;
use crate::problem::Problem;
use crate::web::flash::{FlashMessage, redirect_with_flash};
use crate::web::form_fields::FormFields;
use crate::web::format;
use crate::web::frame::{Frame, render_page_with_status};

/// Limits of the preview: bytes of compared text, ignored parts, and bytes of each part.
const MAX_TEXT: usize = 40_000;
const MAX_IGNORED_PARTS: usize = 200;
const MAX_PART_LEN: usize = 300;
/// Pairs of versions compared.
const MAX_PAIRS: usize = 5;

const IGNORE_OPTIONS: [(&str, &str); 5] = [
    ("case", "letter case"),
    ("space", "white space"),
    ("numbers", "numbers"),
    ("dates", "dates and times"),
    ("order", "the order of lines or JSON arrays"),
];

#[derive(Template)]
#[template(path = "source_detection.html")]
struct DetectionPage {
    frame: Frame,
    header: SourceHeader,
    form: DetectionForm,
    preview: Option<DetectionPreview>,
}

/// Values of the form.
#[derive(Default)]
struct DetectionForm {
    kind: String,
    text: String,
    noise: String,
    links: String,
    images: String,
    select: String,
    drop: String,
    keep_text: String,
    ignore_text: String,
    ignore: Vec<String>,
    below: String,
    error: Option<(&'static str, String)>,
}

/// Effect of the settings on the newest version.
struct DetectionPreview {
    version: u32,
    kind: &'static str,
    basis: &'static str,
    bytes: String,
    lines: String,
    text: String,
    is_truncated: bool,
    unmatched: Vec<String>,
    as_text: bool,
    ignored: Vec<(&'static str, String)>,
    ignored_more: usize,
    /// Consecutive versions: older, newer, tone and verdict.
    pairs: Vec<(u32, u32, &'static str, String)>,
}

impl DetectionForm {
    fn from_source(source: &Source) -> Self {
        let raw: RawDetectSettings = serde_json::from_str(&source.settings).unwrap_or_default();
        let flag = |it: Option<bool>| match it {
            None => String::new(),
            Some(true) => "yes".to_owned(),
            Some(false) => "no".to_owned(),
        };
        let lines = |it: Option<Vec<String>>| it.unwrap_or_default().join("\n");
        Self {
            kind: raw.kind.unwrap_or_default(),
            text: raw.text.unwrap_or_default(),
            noise: flag(raw.noise),
            links: flag(raw.links),
            images: flag(raw.images),
            select: lines(raw.select),
            drop: lines(raw.drop),
            keep_text: lines(raw.keep_text),
            ignore_text: lines(raw.ignore_text),
            ignore: raw.ignore.unwrap_or_default(),
            below: raw
                .below
                .map_or_else(String::new, |it| format!("{}%", format::number(100.0 * it))),
            error: None,
        }
    }

    fn from_fields(fields: &FormFields) -> Self {
        let text = |name| fields.get(name).unwrap_or_default().to_owned();
        Self {
            kind: text("kind"),
            text: text("text"),
            noise: text("noise"),
            links: text("links"),
            images: text("images"),
            select: text("select"),
            drop: text("drop"),
            keep_text: text("keep_text"),
            ignore_text: text("ignore_text"),
            ignore: fields.all("ignore").map(ToOwned::to_owned).collect(),
            below: text("below"),
            error: None,
        }
    }

    /// Returns the validated settings, or the invalid field and the reason.
    fn settings(&self) -> Result<RawDetectSettings, (&'static str, String)> {
        let word = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let flag = |text: &str| match text {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        };
        let lines = |text: &str| {
            let lines = text.lines().map(str::trim).filter(|it| !it.is_empty());
            let lines: Vec<String> = lines.map(ToOwned::to_owned).collect();
            (!lines.is_empty()).then_some(lines)
        };
        let raw = RawDetectSettings {
            kind: word(&self.kind),
            text: word(&self.text),
            noise: flag(&self.noise),
            links: flag(&self.links),
            images: flag(&self.images),
            select: lines(&self.select),
            drop: lines(&self.drop),
            keep_text: lines(&self.keep_text),
            ignore_text: lines(&self.ignore_text),
            ignore: (!self.ignore.is_empty()).then(|| self.ignore.clone()),
            below: parse_share(&self.below)?,
        };
        DetectSettings::resolve(&[SettingsLayer { name: "", settings: &raw }])
            .map_err(|error| field_error(&error))?;
        Ok(raw)
    }

    fn error(&self, field: &str) -> Option<&str> {
        self.error.as_ref().filter(|(at, _)| *at == field).map(|(_, message)| message.as_str())
    }

    fn invalid(&self, field: &str) -> &'static str {
        if self.error(field).is_some() { "true" } else { "false" }
    }

    fn ignores(&self) -> Vec<(&'static str, &'static str, bool)> {
        let is_on = |name: &str| self.ignore.iter().any(|it| it == name);
        IGNORE_OPTIONS.into_iter().map(|(name, words)| (name, words, is_on(name))).collect()
    }

    fn kinds(&self) -> Vec<(&'static str, &'static str, bool)> {
        let all = [
            ("", "as declared by the server"),
            ("html", "HTML"),
            ("json", "JSON"),
            ("xml", "XML or feed"),
            ("text", "plain text"),
            ("pdf", "PDF"),
            ("bytes", "binary"),
        ];
        all.into_iter().map(|(name, words)| (name, words, name == self.kind)).collect()
    }

    fn texts(&self) -> Vec<(&'static str, &'static str, bool)> {
        let all = [("", "default"), ("main", "main text"), ("visible", "all visible text")];
        all.into_iter().map(|(name, words)| (name, words, name == self.text)).collect()
    }

    /// Options with three states: name, label and value.
    fn flags(&self) -> [(&'static str, &'static str, &str); 3] {
        [
            ("noise", "Counters and relative times", self.noise.as_str()),
            ("links", "Link targets", self.links.as_str()),
            ("images", "Images", self.images.as_str()),
        ]
    }
}

/// Parses a share: `5%`, `0.05`; `None` if empty.
fn parse_share(text: &str) -> Result<Option<f64>, (&'static str, String)> {
    if text.is_empty() {
        return Ok(None);
    }
    let percent = text.strip_suffix('%').map(str::trim_end);
    let number = percent.unwrap_or(text).parse::<f64>().ok().filter(|it| it.is_finite());
    let number = number.map(|it| if percent.is_some() { it / 100.0 } else { it });
    let invalid = || ("below", format!("“{text}” is not a share such as 5% or 0.05"));
    number.map(Some).ok_or_else(invalid)
}

/// Returns the field of an error and a message without the terms of the configuration file.
fn field_error(error: &DetectError) -> (&'static str, String) {
    match error {
        DetectError::InvalidSelector { field, index, text, position, message, .. } => (
            field,
            format!("line {}: {message}, after {position} characters of “{text}”", index + 1),
        ),
        DetectError::InvalidRegex { field, index, text, message, .. } => {
            (field, format!("line {}: {message} in “{text}”", index + 1))
        }
        DetectError::TooManySelectors { field, max, .. } => {
            (field, format!("the selectors have more than {max} parts in total"))
        }
        DetectError::InvalidThreshold { value, .. } => {
            ("below", format!("{} is not between 0% and 100%", format::percent(*value)))
        }
        DetectError::UnknownValue { field, value, known, .. } => {
            (field, format!("unknown value “{value}”; expected {known}"))
        }
        other => ("", other.to_string()),
    }
}

/// Serializes the settings without empty fields.
fn to_json(settings: &RawDetectSettings) -> String {
    let value = serde_json::to_value(settings).unwrap_or_default();
    let fields = value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let saved: serde_json::Map<_, _> =
        fields.map(|(name, value)| (name.clone(), value.clone())).collect();
    if saved.is_empty() { String::new() } else { serde_json::Value::Object(saved).to_string() }
}

/// Lists the settings of a source as names and values.
pub(super) fn summary(settings: &str) -> Vec<(&'static str, String)> {
    let raw: RawDetectSettings = serde_json::from_str(settings).unwrap_or_default();
    let list = |it: &Option<Vec<String>>| it.as_ref().map(|it| it.join(", "));
    let flag = |it: Option<bool>| it.map(|it| if it { "yes" } else { "no" }.to_owned());
    let all = [
        ("Include", list(&raw.select)),
        ("Exclude", list(&raw.drop)),
        ("Include lines that match", list(&raw.keep_text)),
        ("Ignore text that matches", list(&raw.ignore_text)),
        ("Ignore differences in", list(&raw.ignore)),
        ("Content type", raw.kind.clone()),
        ("Page text", raw.text.clone()),
        ("Compare counters", flag(raw.noise)),
        ("Compare link targets", flag(raw.links)),
        ("Compare images", flag(raw.images)),
        ("Minimum change", raw.below.map(format::percent)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

pub(super) async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    PathParams(id): PathParams<u32>,
) -> Result<Response, Problem> {
    let (source, host) = find(&app, id).await?;
    let form = DetectionForm::from_source(&source);
    render(&app, frame, source, &host, form, false).await
}

pub(super) async fn submit(
    State(app): State<Arc<App>>,
    frame: Frame,
    PathParams(id): PathParams<u32>,
    fields: FormFields,
) -> Result<Response, Problem> {
    let (source, host) = find(&app, id).await?;
    let form = DetectionForm::from_fields(&fields);
    let is_saving = fields.get("do") == Some("save");
    let Some(settings) = form.settings().ok().filter(|_| is_saving) else {
        return render(&app, frame, source, &host, form, is_saving).await;
    };
    let patch =
        SourceSettings { detect_settings: Some(to_json(&settings)), ..SourceSettings::default() };
    let selector = SourceSelector { ids: vec![id], ..SourceSelector::default() };
    app.handle.edit(SourceEdit::Update(selector, Box::new(patch))).await?;
    let flash = FlashMessage::success("Change detection saved. It applies from the next fetch on.");
    Ok(redirect_with_flash(&app, &format!("/sources/{id}"), flash))
}

async fn render(
    app: &App,
    frame: Frame,
    source: Source,
    host: &str,
    mut form: DetectionForm,
    is_saving: bool,
) -> Result<Response, Problem> {
    let frame = frame.with_section("sources");
    let mut status = StatusCode::OK;
    let mut preview = None;
    match form.settings() {
        Ok(settings) => {
            let (handle, own) = (app.handle.clone(), to_json(&settings));
            let (url, id) = (source.url.clone(), source.id);
            let loading =
                app.read(move |reader| DetectionPreview::new(&handle, reader, id, &url, &own));
            preview = loading.await?;
        }
        Err(error) => {
            form.error = Some(error);
            // An invalid preview is not an error of the request.
            if is_saving {
                status = StatusCode::BAD_REQUEST;
            }
        }
    }
    let header = SourceHeader::new(&source, host, &frame, "tune");
    render_page_with_status(status, &DetectionPage { header, form, preview, frame })
}

impl DetectionPreview {
    fn new(
        handle: &DaemonHandle,
        reader: &Reader,
        id: u32,
        url: &str,
        own: &str,
    ) -> Result<Option<Self>, StoreError> {
        let Ok(detector) = handle.detector(url, own) else { return Ok(None) };
        let mut versions: Vec<Version> = Vec::new();
        for meta in reader.versions(id)?.iter().take(MAX_PAIRS + 1) {
            // The version may have been removed meanwhile.
            versions.extend(reader.version(id, meta.number)?);
        }
        let Some(newest) = versions.first() else { return Ok(None) };
        let document = |version: &Version| {
            let kind = Some(version.meta.content_kind.clone()).filter(|kind| !kind.is_empty());
            (kind, version.content.clone())
        };
        let mut readings = versions.iter().map(|version| {
            let (kind, bytes) = document(version);
            let document = Document { bytes: &bytes, content_type: kind.as_deref(), charset: None };
            if version.meta.number == newest.meta.number {
                detector.explain(&document)
            } else {
                detector.extract(&document)
            }
        });
        let Some(first) = readings.next() else { return Ok(None) };
        let mut pairs = Vec::new();
        let mut later = (newest.meta.number, first.clone());
        for (version, earlier) in versions.iter().skip(1).zip(readings) {
            use freshet_detect::ChangeVerdict;
            let verdict = detector.compare(&earlier.signature(), Some(&earlier.text), &later.1);
            let (tone, words) = match verdict {
                ChangeVerdict::Changed { similarity } => {
                    ("good", format!("change, {} similar", format::percent(similarity)))
                }
                ChangeVerdict::Slight { similarity } => (
                    "",
                    format!(
                        "no change: below the minimum, {} similar",
                        format::percent(similarity)
                    ),
                ),
                _ => ("", "no change".to_owned()),
            };
            pairs.push((version.meta.number, later.0, tone, words));
            later = (version.meta.number, earlier);
        }
        let text = truncated(&first.text, MAX_TEXT);
        let ignored = first.excluded.iter().take(MAX_IGNORED_PARTS);
        let ignored: Vec<_> = ignored
            .map(|it| (it.reason.name(), truncated(it.text.trim(), MAX_PART_LEN).to_owned()))
            .collect();
        Ok(Some(Self {
            version: newest.meta.number,
            kind: first.digests.kind.name(),
            basis: basis_label(first.scope),
            bytes: format::bytes(first.text.len() as u64),
            lines: format::plural(first.text.lines().count() as u64, "line", "lines"),
            is_truncated: text.len() < first.text.len(),
            text: text.to_owned(),
            unmatched: first.unmatched.clone(),
            as_text: first.is_parsed_as_text,
            ignored_more: first.excluded.len().saturating_sub(ignored.len()),
            ignored,
            pairs,
        }))
    }
}

fn basis_label(basis: TextScope) -> &'static str {
    match basis {
        TextScope::Main => "main text",
        TextScope::Selected => "selected parts",
        TextScope::Visible => "all visible text, as no main text was found",
        TextScope::Hidden => "all text, as none is visible",
        TextScope::Structured => "structured data, as the page has no text",
        TextScope::Addresses => "URLs, as the page has no text",
        _ => "all content",
    }
}

/// Returns the beginning of a text, of at most `most` bytes.
fn truncated(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(select: &str, below: &str) -> DetectionForm {
        DetectionForm {
            select: select.to_owned(),
            below: below.to_owned(),
            ..DetectionForm::default()
        }
    }

    #[test]
    fn settings_survive_a_round_trip_through_the_form() {
        let saved = r##"{"select":["#a","$.b"],"ignore":["case"],"below":0.05,"links":true}"##;
        let raw: RawDetectSettings = serde_json::from_str(saved).unwrap();
        let source = Source { settings: saved.to_owned(), ..a_source() };
        let again = DetectionForm::from_source(&source).settings().unwrap();
        assert_eq!(again, raw);
        assert_eq!(serde_json::from_str::<RawDetectSettings>(&to_json(&again)).unwrap(), raw);
        assert_eq!(to_json(&DetectionForm::default().settings().unwrap()), "");
    }

    fn a_source() -> Source {
        Source {
            id: 0,
            url: String::new(),
            host: 0,
            importance: 1.0,
            cost: 1.0,
            min_interval: 0.0,
            max_interval: f64::INFINITY,
            paused: false,
            observed: false,
            is_signal_source: false,
            tags: Vec::new(),
            settings: String::new(),
            goal: String::new(),
            added_at: 0,
            state: freshet_store::SourceState::New,
            fetched_at: None,
            attempted_at: None,
            changed_at: None,
            due_at: None,
            fetches: 0,
            failures: 0,
            version: 0,
        }
    }

    #[test]
    fn an_error_names_its_field() {
        let (field, message) = form("#good\np[", "").settings().unwrap_err();
        assert_eq!(field, "select");
        assert!(message.starts_with("line 2: "), "{message}");
        assert_eq!(form("", "much").settings().unwrap_err().0, "below");
        assert_eq!(form("", "200 %").settings().unwrap_err().0, "below");
        assert_eq!(form("", "5%").settings().unwrap().below, Some(0.05));
    }
}
