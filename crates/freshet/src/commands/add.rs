//! `freshet add`.

use std::io::{self, BufRead};
use std::process::ExitCode;

use clap::Args;
use freshet_daemon::{
    EditError, EditResult, NewSourceRequest, SourceEdit, SourceSettings, parse_source_url,
};
use freshet_fetch::{FetchRequest, GuardRefusal};
use freshet_store::NewSource;

use crate::commands::instance::{ConfigArguments, Editor, Instance};
use crate::commands::settings_arguments::SourceSettingsArguments;
use crate::failure::Failure;
use crate::number::pluralize;
use crate::output::print_note;

/// Maximum number of sources in one request to the daemon.
pub(crate) const BATCH: usize = 50_000;
/// Approximate maximum size of one request to the daemon, in bytes.
pub(crate) const BATCH_BYTES: usize = 6 << 20;

/// Add sources
///
/// Existing sources get the given settings and keep their others. Works with and without a running
/// daemon.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet add https://example.com/ https://example.org/news --tag news
  freshet add https://example.com/price --importance 5 --max-interval 1h --select '#price'
  sort -u urls.txt | freshet add - --tag crawl")]
pub(crate) struct AddArguments {
    /// URL to fetch; `-` reads URLs from standard input, one per line
    #[arg(value_name = "URL", required = true)]
    pub(crate) urls: Vec<String>,

    #[command(flatten)]
    pub(crate) settings: SourceSettingsArguments,

    /// Add the sources paused, until `freshet resume`
    #[arg(long, help_heading = "Source settings")]
    pub(crate) paused: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

pub(crate) fn run(arguments: &AddArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    // Tags and change detection are merged with those of an existing source.
    let typed = arguments.settings.merge_with(None)?;
    let needs_merge = typed.tags.is_some() || typed.detect_settings.is_some();
    let known = if needs_merge { instance.reader_if_any()? } else { None };
    let describe = |url: &str| -> Result<NewSourceRequest, Failure> {
        let (canonical, _) = canonical_url(url)?;
        let source = match &known {
            Some(reader) => {
                reader.find_source(&canonical)?.map(|id| reader.source(id)).transpose()?.flatten()
            }
            None => None,
        };
        let mut settings = arguments.settings.merge_with(source.as_ref())?;
        settings.paused = arguments.paused.then_some(true);
        Ok(NewSourceRequest { url: url.to_owned(), settings })
    };
    let mut requests = Vec::new();
    for url in &arguments.urls {
        if url != "-" {
            requests.push(describe(url)?);
            continue;
        }
        for (line, url) in (1..).zip(io::stdin().lock().lines()) {
            let url =
                url.map_err(|error| Failure::new(format!("cannot read standard input: {error}")))?;
            let url = url.trim();
            if url.is_empty() || url.starts_with('#') {
                continue;
            }
            let request = describe(url)
                .map_err(|failure| failure.with_location(format!("standard input:{line}")))?;
            requests.push(request);
        }
    }
    warn_of_refusals(&instance, &requests);
    let mut total = EditResult::default();
    let mut editor = instance.editor()?;
    add(&mut editor, requests, &mut total)?;
    print_note(&summary(&total));
    Ok(ExitCode::SUCCESS)
}

/// Maximum number of refusals that are printed one by one.
const MAX_WARNINGS: usize = 5;

/// Warns of sources that the guard will refuse to fetch.
fn warn_of_refusals(instance: &Instance, requests: &[NewSourceRequest]) {
    let mut refused = 0_usize;
    for source in requests {
        let Ok(request) = FetchRequest::new(&source.url) else { continue };
        let Some(refusal) = instance.config.fetch.static_refusal(request.url()) else { continue };
        refused += 1;
        if refused > MAX_WARNINGS {
            continue;
        }
        let allow = match &refusal {
            GuardRefusal::Address { host, .. } | GuardRefusal::Public { host, .. } => {
                format!("allow it with `allow = [\"{host}\"]`")
            }
            GuardRefusal::File { .. } => {
                "allow its directory with `files = [\"/a/directory\"]`".to_owned()
            }
            GuardRefusal::Scheme { scheme } if scheme == "file" => {
                "allow a directory with `files = [\"/a/directory\"]`".to_owned()
            }
            _ => "list the command under `[fetch.commands]`".to_owned(),
        };
        print_note(&format!(
            "warning: {} will be refused: {refusal}\n\nhint: {allow} under `[fetch]` in freshet.toml\n",
            source.url
        ));
    }
    if refused > MAX_WARNINGS {
        print_note(&format!("warning: {} more sources will be refused", refused - MAX_WARNINGS));
    }
}

/// Adds sources, in batches that fit into one request to the daemon.
pub(crate) fn add(
    editor: &mut Editor,
    requests: Vec<NewSourceRequest>,
    total: &mut EditResult,
) -> Result<(), Failure> {
    let mut requests = requests.into_iter().peekable();
    while requests.peek().is_some() {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while batch.len() < BATCH && bytes < BATCH_BYTES {
            let Some(request) = requests.next() else { break };
            bytes += encoded_size(&request);
            batch.push(request);
        }
        let applied = editor.apply(SourceEdit::Add(batch))?;
        total.created += applied.created;
        total.updated += applied.updated;
    }
    Ok(())
}

/// Returns the approximate size of a source in a request to the daemon, in bytes.
pub(crate) fn encoded_size(request: &NewSourceRequest) -> usize {
    let settings = &request.settings;
    let tags: usize = settings.tags.iter().flatten().map(|tag| tag.len() + 3).sum();
    let detection = settings.detect_settings.as_ref().map_or(0, |text| 2 * text.len());
    let fixed = if *settings == SourceSettings::default() { 16 } else { 200 };
    request.url.len() + tags + detection + fixed
}

/// Returns the canonical URL and the host of a source.
pub(crate) fn canonical_url(url: &str) -> Result<(String, String), Failure> {
    let (canonical, host) =
        parse_source_url(url).map_err(|error| Failure::new(error).with_hint(full_url_hint(url)))?;
    check_scheme(url, &canonical)?;
    Ok((canonical, host))
}

/// Validates a request and converts it to a source for the store.
pub(crate) fn to_new_source(request: &NewSourceRequest, now: i64) -> Result<NewSource, Failure> {
    let source = request.to_new_source(now).map_err(|error| match error {
        EditError::Url(error) => Failure::new(error).with_hint(full_url_hint(&request.url)),
        other => other.into(),
    })?;
    check_scheme(&request.url, &source.url)?;
    Ok(source)
}

/// Suggests a full URL for an incomplete one.
fn full_url_hint(url: &str) -> String {
    if url.contains(['/', '@', ' ']) || !url.contains(['.', ':']) {
        "give the full URL, such as `https://example.com/`".to_owned()
    } else {
        format!("give the full URL: `https://{url}`")
    }
}

/// Fails if a URL has an unknown scheme: `localhost:8080` is a URL with the scheme `localhost`.
fn check_scheme(url: &str, canonical: &str) -> Result<(), Failure> {
    let known = ["http:", "https:", "file:", "exec:"];
    if known.iter().any(|scheme| canonical.starts_with(scheme)) {
        return Ok(());
    }
    Err(Failure::new(format!("`{url}` is not an HTTP or HTTPS URL")).with_hint(full_url_hint(url)))
}

/// Describes how many sources were added and updated.
pub(crate) fn summary(total: &EditResult) -> String {
    let sources = |count: u64| pluralize(count as usize, "source", "sources");
    match (total.created, total.updated) {
        (new, 0) => format!("added {}", sources(new)),
        (0, known) => format!("updated {}", sources(known)),
        (new, known) => format!("added {}; updated {}", sources(new), sources(known)),
    }
}
