//! `freshet diff`.

use std::process::ExitCode;

use clap::Args;
use freshet_detect::{Detector, Document, Reading, diff};
use freshet_fetch::Request;
use freshet_store::{Reader, Version};

use crate::clock;
use crate::commands::detect::{DiffStyle, show_diff};
use crate::commands::find_source::find;
use crate::commands::instance::{ConfigArguments, Home};
use crate::failure::Failure;
use crate::output::{note, print_text};
use crate::time_format::from_now;

/// Characters of a line that are shown, about.
const LONGEST_LINE: usize = 2000;

/// Show what changed between two versions of a source
///
/// Of both, what counts by the settings of today. `freshet show URL` lists the versions that are kept.
/// Exit code 0: shown; 1: there is only one version.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet diff https://example.com/
  freshet diff https://example.com/ 3 7 --words")]
pub(crate) struct DiffArguments {
    /// The source
    #[arg(value_name = "URL")]
    pub(crate) url: String,

    /// The number of the older version [default: the last but one]
    #[arg(value_name = "A", requires = "newer")]
    pub(crate) older: Option<u32>,

    /// The number of the newer version [default: the last]
    #[arg(value_name = "B")]
    pub(crate) newer: Option<u32>,

    /// In two columns
    #[arg(long)]
    pub(crate) side_by_side: bool,

    /// Words within lines, as `[-old-]{+new+}`
    #[arg(long, conflicts_with = "side_by_side")]
    pub(crate) words: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

pub(crate) fn run(arguments: &DiffArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let reader = home.reader()?;
    let id = find(&reader, &arguments.url)?;
    let numbers = match (arguments.older, arguments.newer) {
        (Some(older), Some(newer)) => [older, newer],
        _ => match reader.versions(id)?[..] {
            [] => {
                return Err(Failure::new(format!("there is no version of {}", arguments.url))
                    .hint("fetch it now with `freshet check`, or let `freshet run` do it"));
            }
            [ref only] => {
                note(&format!("there is only version {} of {}", only.number, arguments.url));
                return Ok(ExitCode::from(1));
            }
            [ref newer, ref older, ..] => [older.number, newer.number],
        },
    };
    let source = reader.source(id)?;
    let settings = source.as_ref().map(|source| source.settings.as_str()).unwrap_or_default();
    let url = source.as_ref().map_or(arguments.url.as_str(), |source| source.url.as_str());
    let request = Request::new(url).map_err(Failure::new)?;
    let detector = home.config.detect.detector(request.url(), settings).map_err(Failure::new)?;
    let old = version(&reader, id, numbers[0])?;
    let new = version(&reader, id, numbers[1])?;
    let texts = [read(&detector, &old).text, read(&detector, &new).text];
    let now = clock::millis();
    let seen = |it: &Version| {
        format!("version {}, {}", it.meta.number, from_now(it.meta.first_seen_at, now))
    };
    note(&format!("--- {}\n+++ {}", seen(&old), seen(&new)));
    if texts[0] == texts[1] {
        note(if old.content == new.content { "the same" } else { "nothing that counts differs" });
    }
    let style = match (arguments.side_by_side, arguments.words) {
        (true, _) => DiffStyle::Side,
        (_, true) => DiffStyle::Words,
        _ => DiffStyle::Unified,
    };
    print_text(&show_diff(&diff(&texts[0], &texts[1]).cut(LONGEST_LINE), style))?;
    Ok(ExitCode::SUCCESS)
}

fn version(reader: &Reader, id: u32, number: u32) -> Result<Version, Failure> {
    if let Some(version) = reader.version(id, number)? {
        return Ok(version);
    }
    let mut kept: Vec<_> = reader.versions(id)?.iter().map(|it| it.number.to_string()).collect();
    kept.reverse();
    let failure = Failure::new(format!("version {number} is not kept"));
    Err(match &kept[..] {
        [] => failure.hint("none is: fetch it with `freshet check`"),
        _ => failure.hint(format!("these are: {}", kept.join(", "))),
    })
}

/// What counts of a version.
fn read(detector: &Detector, version: &Version) -> Reading {
    let kind = Some(version.meta.content_kind.as_str()).filter(|kind| !kind.is_empty());
    detector.read(&Document { bytes: &version.content, content_type: kind, charset: None })
}
