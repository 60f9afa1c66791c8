//! What counts of a source: settings, and what they leave of the copy, before they are saved.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use freshet_daemon::{Edit, Handle, SourceSettings, Which};
use freshet_detect::{Basis, DetectError, Document, Layer, RawSettings, Settings};
use freshet_store::{Reader, Source, StoreError, Version};

use super::{Head, find};
use crate::app::App;
use crate::input::Place;
use crate::problem::Problem;
use crate::web::form::Fields;
use crate::web::frame::{Frame, page_with};
use crate::web::said::{Flash, go_to};
use crate::web::words;

/// Bytes of what counts that are shown, parts that do not count, and bytes of each.
const SHOWN: usize = 40_000;
const LEFT_OUT: usize = 200;
const PART: usize = 300;
/// Pairs of versions that are compared.
const PAIRS: usize = 5;

const IGNORE: [(&str, &str); 5] = [
    ("case", "capital and small letters"),
    ("space", "spaces and line breaks"),
    ("numbers", "numbers"),
    ("dates", "dates and times"),
    ("order", "the order of lines, or of JSON lists"),
];

#[derive(Template)]
#[template(path = "source_tune.html")]
struct TunePage {
    frame: Frame,
    head: Head,
    form: TuneForm,
    preview: Option<Preview>,
}

/// The settings as they are typed.
#[derive(Default)]
struct TuneForm {
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
    wrong: Option<(&'static str, String)>,
}

/// What would count of the newest copy.
struct Preview {
    version: u32,
    kind: &'static str,
    basis: &'static str,
    bytes: String,
    lines: String,
    text: String,
    is_cut: bool,
    unmatched: Vec<String>,
    as_text: bool,
    left_out: Vec<(&'static str, String)>,
    left_out_more: usize,
    /// Of versions that followed each other: which, and whether the later one would count as changed.
    pairs: Vec<(u32, u32, &'static str, String)>,
}

impl TuneForm {
    fn of(source: &Source) -> Self {
        let raw: RawSettings = serde_json::from_str(&source.settings).unwrap_or_default();
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
                .map_or_else(String::new, |it| format!("{} %", words::figure(100.0 * it))),
            wrong: None,
        }
    }

    fn typed(fields: &Fields) -> Self {
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
            wrong: None,
        }
    }

    /// The settings, checked; or in which field something is wrong, and what.
    fn settings(&self) -> Result<RawSettings, (&'static str, String)> {
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
        let raw = RawSettings {
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
            below: share(&self.below)?,
        };
        Settings::resolve(&[Layer { name: "", settings: &raw }]).map_err(|why| fault(&why))?;
        Ok(raw)
    }

    fn error(&self, field: &str) -> Option<&str> {
        self.wrong.as_ref().filter(|(at, _)| *at == field).map(|(_, what)| what.as_str())
    }

    fn invalid(&self, field: &str) -> &'static str {
        if self.error(field).is_some() { "true" } else { "false" }
    }

    fn ignores(&self) -> Vec<(&'static str, &'static str, bool)> {
        let is_on = |name: &str| self.ignore.iter().any(|it| it == name);
        IGNORE.into_iter().map(|(name, words)| (name, words, is_on(name))).collect()
    }

    fn kinds(&self) -> Vec<(&'static str, &'static str, bool)> {
        let all = [
            ("", "as the server says"),
            ("html", "a page (HTML)"),
            ("json", "JSON"),
            ("xml", "XML, or a feed"),
            ("text", "plain text"),
            ("pdf", "PDF"),
            ("bytes", "bytes"),
        ];
        all.into_iter().map(|(name, words)| (name, words, name == self.kind)).collect()
    }

    fn texts(&self) -> Vec<(&'static str, &'static str, bool)> {
        let all =
            [("", "as usual"), ("main", "the main text"), ("visible", "all that can be seen")];
        all.into_iter().map(|(name, words)| (name, words, name == self.text)).collect()
    }

    /// What can be counted or not: name, words, and what is chosen.
    fn flags(&self) -> [(&'static str, &'static str, &str); 3] {
        [
            ("noise", "Counters, “3 minutes ago” and the like", self.noise.as_str()),
            ("links", "Where links lead", self.links.as_str()),
            ("images", "Images", self.images.as_str()),
        ]
    }
}

/// A share as it is typed: `5 %`, `0.05`; nothing for none.
fn share(text: &str) -> Result<Option<f64>, (&'static str, String)> {
    if text.is_empty() {
        return Ok(None);
    }
    let percent = text.strip_suffix('%').map(str::trim_end);
    let number = percent.unwrap_or(text).parse::<f64>().ok().filter(|it| it.is_finite());
    let number = number.map(|it| if percent.is_some() { it / 100.0 } else { it });
    let fault = || ("below", format!("“{text}” is not a share: 5 % and 0.05 are"));
    number.map(Some).ok_or_else(fault)
}

/// In which field something is wrong, and what, without the words for those who write files.
fn fault(why: &DetectError) -> (&'static str, String) {
    match why {
        DetectError::Pattern { field, index, text, at, what, .. } => {
            (field, format!("line {}: {what}, after {at} characters of “{text}”", index + 1))
        }
        DetectError::Expression { field, index, text, what, .. } => {
            (field, format!("line {}: {what} in “{text}”", index + 1))
        }
        DetectError::TooManyParts { field, most, .. } => {
            (field, format!("the selectors have more than {most} parts in all"))
        }
        DetectError::Below { value, .. } => {
            ("below", format!("{} is not between 0 and 100 %", words::percent(*value)))
        }
        DetectError::Unknown { field, value, known, .. } => {
            (field, format!("there is no “{value}”, only {known}"))
        }
        other => ("", other.to_string()),
    }
}

/// As they are kept: what is not said needs no words.
fn written(settings: &RawSettings) -> String {
    let value = serde_json::to_value(settings).unwrap_or_default();
    let fields = value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let said: serde_json::Map<_, _> =
        fields.map(|(name, value)| (name.clone(), value.clone())).collect();
    if said.is_empty() { String::new() } else { serde_json::Value::Object(said).to_string() }
}

/// What is said of what counts, for a page: names and values.
pub(super) fn in_words(settings: &str) -> Vec<(&'static str, String)> {
    let raw: RawSettings = serde_json::from_str(settings).unwrap_or_default();
    let list = |it: &Option<Vec<String>>| it.as_ref().map(|it| it.join(", "));
    let flag = |it: Option<bool>| it.map(|it| if it { "yes" } else { "no" }.to_owned());
    let all = [
        ("Only", list(&raw.select)),
        ("Not", list(&raw.drop)),
        ("Only lines that match", list(&raw.keep_text)),
        ("Not text that matches", list(&raw.ignore_text)),
        ("The same to you", list(&raw.ignore)),
        ("Read as", raw.kind.clone()),
        ("Of pages", raw.text.clone()),
        ("Counters count", flag(raw.noise)),
        ("Links count", flag(raw.links)),
        ("Images count", flag(raw.images)),
        ("Slight below", raw.below.map(words::percent)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

pub(super) async fn show(
    State(app): State<Arc<App>>,
    frame: Frame,
    Place(id): Place<u32>,
) -> Result<Response, Problem> {
    let (source, host) = find(&app, id).await?;
    let form = TuneForm::of(&source);
    render(&app, frame, source, &host, form, false).await
}

pub(super) async fn change(
    State(app): State<Arc<App>>,
    frame: Frame,
    Place(id): Place<u32>,
    fields: Fields,
) -> Result<Response, Problem> {
    let (source, host) = find(&app, id).await?;
    let form = TuneForm::typed(&fields);
    let is_saving = fields.get("do") == Some("save");
    let Some(settings) = form.settings().ok().filter(|_| is_saving) else {
        return render(&app, frame, source, &host, form, is_saving).await;
    };
    let given = SourceSettings { settings: Some(written(&settings)), ..SourceSettings::default() };
    let which = Which { ids: vec![id], ..Which::default() };
    app.handle.edit(Edit::Change(which, Box::new(given))).await?;
    let told = Flash::good("Saved: what counts is compared like this from the next fetch on.");
    Ok(go_to(&app, &format!("/sources/{id}"), told))
}

async fn render(
    app: &App,
    frame: Frame,
    source: Source,
    host: &str,
    mut form: TuneForm,
    is_saving: bool,
) -> Result<Response, Problem> {
    let frame = frame.at("sources");
    let mut status = StatusCode::OK;
    let mut preview = None;
    match form.settings() {
        Ok(settings) => {
            let (handle, own) = (app.handle.clone(), written(&settings));
            let (url, id) = (source.url.clone(), source.id);
            let made = app.read(move |reader| Preview::make(&handle, reader, id, &url, &own));
            preview = made.await?;
        }
        Err(wrong) => {
            form.wrong = Some(wrong);
            // A preview of what is half typed is no mistake.
            if is_saving {
                status = StatusCode::BAD_REQUEST;
            }
        }
    }
    let head = Head::of(&source, host, &frame, "tune");
    page_with(status, &TunePage { head, form, preview, frame })
}

impl Preview {
    fn make(
        handle: &Handle,
        reader: &Reader,
        id: u32,
        url: &str,
        own: &str,
    ) -> Result<Option<Self>, StoreError> {
        let Ok(detector) = handle.detector(url, own) else { return Ok(None) };
        let mut versions: Vec<Version> = Vec::new();
        for meta in reader.versions(id)?.iter().take(PAIRS + 1) {
            // Between the two it may have gone.
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
                detector.read(&document)
            }
        });
        let Some(first) = readings.next() else { return Ok(None) };
        let mut pairs = Vec::new();
        let mut later = (newest.meta.number, first.clone());
        for (version, earlier) in versions.iter().skip(1).zip(readings) {
            use freshet_detect::Verdict;
            let verdict = detector.judge(&earlier.stored(), Some(&earlier.text), &later.1);
            let (tone, words) = match verdict {
                Verdict::Changed { similarity } => {
                    ("good", format!("would count: {} the same", words::percent(similarity)))
                }
                Verdict::Slight { similarity } => {
                    ("", format!("too slight to count: {} the same", words::percent(similarity)))
                }
                _ => ("", "would not count: the same".to_owned()),
            };
            pairs.push((version.meta.number, later.0, tone, words));
            later = (version.meta.number, earlier);
        }
        let text = cut(&first.text, SHOWN);
        let left_out = first.left_out.iter().take(LEFT_OUT);
        let left_out: Vec<_> =
            left_out.map(|it| (it.reason.name(), cut(it.text.trim(), PART).to_owned())).collect();
        Ok(Some(Self {
            version: newest.meta.number,
            kind: first.mark.kind.name(),
            basis: basis(first.basis),
            bytes: words::bytes(first.text.len() as u64),
            lines: words::plural(first.text.lines().count() as u64, "line", "lines"),
            is_cut: text.len() < first.text.len(),
            text: text.to_owned(),
            unmatched: first.unmatched.clone(),
            as_text: first.as_text,
            left_out_more: first.left_out.len().saturating_sub(left_out.len()),
            left_out,
            pairs,
        }))
    }
}

fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Main => "the main text",
        Basis::Selected => "what the selectors name",
        Basis::Visible => "all that can be seen, as there is no main text",
        Basis::Hidden => "all text, as none can be seen",
        Basis::Structured => "what the page tells machines, as it has no text",
        Basis::Addresses => "the addresses in it, as it has no text",
        _ => "all of it",
    }
}

/// The beginning of a text, of at most so many bytes.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(select: &str, below: &str) -> TuneForm {
        TuneForm { select: select.to_owned(), below: below.to_owned(), ..TuneForm::default() }
    }

    #[test]
    fn settings_are_written_as_they_were_read() {
        let said = r##"{"select":["#a","$.b"],"ignore":["case"],"below":0.05,"links":true}"##;
        let raw: RawSettings = serde_json::from_str(said).unwrap();
        let source = Source { settings: said.to_owned(), ..a_source() };
        let again = TuneForm::of(&source).settings().unwrap();
        assert_eq!(again, raw);
        assert_eq!(serde_json::from_str::<RawSettings>(&written(&again)).unwrap(), raw);
        assert_eq!(written(&TuneForm::default().settings().unwrap()), "");
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
    fn what_is_wrong_is_said_at_its_field() {
        let (field, what) = form("#good\np[", "").settings().unwrap_err();
        assert_eq!(field, "select");
        assert!(what.starts_with("line 2: "), "{what}");
        assert_eq!(form("", "much").settings().unwrap_err().0, "below");
        assert_eq!(form("", "200 %").settings().unwrap_err().0, "below");
        assert_eq!(form("", "5%").settings().unwrap().below, Some(0.05));
    }
}
