//! `freshet add`.

use std::io::{self, BufRead};
use std::process::ExitCode;

use clap::Args;
use freshet_daemon::{Applied, Edit, EditError, NewSourceRequest, SourceSettings, host_of};
use freshet_fetch::{Refusal, Request};
use freshet_store::NewSource;

use crate::commands::instance::{ConfigArguments, Editor, Home};
use crate::commands::settings_arguments::GivenArguments;
use crate::failure::Failure;
use crate::number::plural;
use crate::output::note;

/// Sources that are added at once: as many as go through the daemon's door in a moment.
pub(crate) const BATCH: usize = 50_000;
/// Bytes of them, about.
pub(crate) const BATCH_BYTES: usize = 6 << 20;

/// Add sources to be kept fresh
///
/// Sources that are there already get what is said anew, and keep the rest. It works while the daemon
/// runs, and while it does not.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet add https://example.com/ https://example.org/news --tag news
  freshet add https://example.com/price --importance 5 --max-interval 1h --select '#price'
  sort -u urls.txt | freshet add - --tag crawl")]
pub(crate) struct AddArguments {
    /// What is fetched; `-` for one on each line of standard input
    #[arg(value_name = "URL", required = true)]
    pub(crate) urls: Vec<String>,

    #[command(flatten)]
    pub(crate) given: GivenArguments,

    /// Leave them alone until `freshet resume`
    #[arg(long, help_heading = "What is said of it")]
    pub(crate) paused: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

pub(crate) fn run(arguments: &AddArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let said_in_part = arguments.given.over(None)?;
    let in_part = said_in_part.tags.is_some() || said_in_part.settings.is_some();
    let known = if in_part { home.reader_if_any()? } else { None };
    let describe = |url: &str| -> Result<NewSourceRequest, Failure> {
        let (canonical, _) = canonical(url)?;
        let source = match &known {
            Some(reader) => {
                reader.find_source(&canonical)?.map(|id| reader.source(id)).transpose()?.flatten()
            }
            None => None,
        };
        let mut given = arguments.given.over(source.as_ref())?;
        given.paused = arguments.paused.then_some(true);
        Ok(NewSourceRequest { url: url.to_owned(), settings: given })
    };
    let mut wanted = Vec::new();
    for url in &arguments.urls {
        if url != "-" {
            wanted.push(describe(url)?);
            continue;
        }
        for (line, url) in (1..).zip(io::stdin().lock().lines()) {
            let url =
                url.map_err(|error| Failure::new(format!("cannot read standard input: {error}")))?;
            let url = url.trim();
            if url.is_empty() || url.starts_with('#') {
                continue;
            }
            let one = describe(url).map_err(|it| it.at(format!("standard input:{line}")))?;
            wanted.push(one);
        }
    }
    warn(&home, &wanted);
    let mut all = Applied::default();
    let mut editor = home.editor()?;
    add(&mut editor, wanted, &mut all)?;
    note(&said(&all));
    Ok(ExitCode::SUCCESS)
}

/// Refusals that are told one by one.
const TOLD: usize = 5;

/// Says at once what will not be fetched: otherwise it is found out later, or never.
fn warn(home: &Home, wanted: &[NewSourceRequest]) {
    let mut refused = 0_usize;
    for one in wanted {
        let Ok(request) = Request::new(&one.url) else { continue };
        let Some(refusal) = home.config.fetch.refusal(request.url()) else { continue };
        refused += 1;
        if refused > TOLD {
            continue;
        }
        let open = match &refusal {
            Refusal::Address { host, .. } | Refusal::Public { host, .. } => {
                format!("open it with `allow = [\"{host}\"]`")
            }
            Refusal::File { .. } => {
                "open its directory with `files = [\"/a/directory\"]`".to_owned()
            }
            Refusal::Scheme { scheme } if scheme == "file" => {
                "open a directory with `files = [\"/a/directory\"]`".to_owned()
            }
            _ => "name the command under `[fetch.commands]`".to_owned(),
        };
        let open = format!("{open} under `[fetch]` in freshet.toml");
        note(&format!("warning: {} will be refused: {refusal}\n\nhint: {open}\n", one.url));
    }
    if refused > TOLD {
        note(&format!("warning: {} more will be refused", refused - TOLD));
    }
}

/// Adds sources, in pieces that go through the daemon's door.
pub(crate) fn add(
    editor: &mut Editor,
    wanted: Vec<NewSourceRequest>,
    all: &mut Applied,
) -> Result<(), Failure> {
    let mut wanted = wanted.into_iter().peekable();
    while wanted.peek().is_some() {
        let (mut piece, mut bytes) = (Vec::new(), 0);
        while piece.len() < BATCH && bytes < BATCH_BYTES {
            let Some(one) = wanted.next() else { break };
            bytes += size(&one);
            piece.push(one);
        }
        let applied = editor.apply(Edit::Add(piece))?;
        all.new += applied.new;
        all.known += applied.known;
    }
    Ok(())
}

/// Bytes of a source on its way through the door, about.
pub(crate) fn size(wanted: &NewSourceRequest) -> usize {
    let given = &wanted.settings;
    let tags: usize = given.tags.iter().flatten().map(|tag| tag.len() + 3).sum();
    let settings = given.settings.as_ref().map_or(0, |text| 2 * text.len());
    wanted.url.len() + tags + settings + if *given == SourceSettings::default() { 16 } else { 200 }
}

/// The URL of a source in its usual form, and its host, if it can be one.
pub(crate) fn canonical(url: &str) -> Result<(String, String), Failure> {
    let (canonical, host) = host_of(url).map_err(|error| Failure::new(error).hint(whole(url)))?;
    is_fetched(url, &canonical)?;
    Ok((canonical, host))
}

/// A source as the store takes it, if it can be one.
pub(crate) fn checked(wanted: &NewSourceRequest, now: i64) -> Result<NewSource, Failure> {
    let source = wanted.check(now).map_err(|error| match error {
        EditError::Url(error) => Failure::new(error).hint(whole(&wanted.url)),
        other => other.into(),
    })?;
    is_fetched(&wanted.url, &source.url)?;
    Ok(source)
}

/// What may have been meant by a URL.
fn whole(url: &str) -> String {
    if url.contains(['/', '@', ' ']) || !url.contains(['.', ':']) {
        "give the whole URL, such as `https://example.com/`".to_owned()
    } else {
        format!("give the whole URL: `https://{url}`")
    }
}

/// `localhost:8080` is a URL whose scheme is `localhost`.
fn is_fetched(url: &str, canonical: &str) -> Result<(), Failure> {
    let known = ["http:", "https:", "file:", "exec:"];
    if known.iter().any(|scheme| canonical.starts_with(scheme)) {
        return Ok(());
    }
    Err(Failure::new(format!("`{url}` is not a URL of http or https")).hint(whole(url)))
}

/// What was added, in words.
pub(crate) fn said(all: &Applied) -> String {
    let sources = |count: u64| plural(count as usize, "source", "sources");
    match (all.new, all.known) {
        (new, 0) => format!("added {}", sources(new)),
        (0, known) => format!("{} known already: what was said is noted", sources(known)),
        (new, known) => format!("added {}; {} known already", sources(new), sources(known)),
    }
}
