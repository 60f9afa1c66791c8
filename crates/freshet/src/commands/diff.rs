//! `freshet diff`.

use std::process::ExitCode;

use clap::Args;
use freshet_detect::{Detector, Document, Extraction, diff};
use freshet_fetch::FetchRequest;
use freshet_store::{Reader, Version};

use crate::clock;
use crate::commands::detect::{DiffStyle, show_diff};
use crate::commands::find_source::find;
use crate::commands::instance::{ConfigArguments, Instance};
use crate::failure::Failure;
use crate::output::{print_note, print_text};
use crate::time_format::format_relative;

/// Approximate maximum length of a printed line, in characters.
const MAX_LINE_LEN: usize = 2000;

/// Show the differences between two versions of a source
///
/// Both versions are compared with the current settings of the source. `freshet show URL` lists the
/// versions that are kept. Exit code 0: the differences were shown; 1: there is only one version.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet diff https://example.com/
  freshet diff https://example.com/ 3 7 --words")]
pub(crate) struct DiffArguments {
    /// URL of the source
    #[arg(value_name = "URL")]
    pub(crate) url: String,

    /// Number of the older version [default: the second to last]
    #[arg(value_name = "A", requires = "newer")]
    pub(crate) older: Option<u32>,

    /// Number of the newer version [default: the last]
    #[arg(value_name = "B")]
    pub(crate) newer: Option<u32>,

    /// Show the versions in two columns
    #[arg(long)]
    pub(crate) side_by_side: bool,

    /// Show changed words within lines, as `[-old-]{+new+}`
    #[arg(long, conflicts_with = "side_by_side")]
    pub(crate) words: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

pub(crate) fn run(arguments: &DiffArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let reader = instance.reader()?;
    let id = find(&reader, &arguments.url)?;
    let numbers = match (arguments.older, arguments.newer) {
        (Some(older), Some(newer)) => [older, newer],
        _ => match reader.versions(id)?[..] {
            [] => {
                return Err(Failure::new(format!("there is no version of {}", arguments.url))
                    .with_hint("fetch it now with `freshet check`, or let `freshet run` do it"));
            }
            [ref only] => {
                print_note(&format!("there is only version {} of {}", only.number, arguments.url));
                return Ok(ExitCode::from(1));
            }
            [ref newer, ref older, ..] => [older.number, newer.number],
        },
    };
    let source = reader.source(id)?;
    let settings = source.as_ref().map(|source| source.settings.as_str()).unwrap_or_default();
    let url = source.as_ref().map_or(arguments.url.as_str(), |source| source.url.as_str());
    let request = FetchRequest::new(url).map_err(Failure::new)?;
    let detector =
        instance.config.detection_rules.detector(request.url(), settings).map_err(Failure::new)?;
    let old = version(&reader, id, numbers[0])?;
    let new = version(&reader, id, numbers[1])?;
    let texts = [read(&detector, &old).text, read(&detector, &new).text];
    let now = clock::now_millis();
    let title = |it: &Version| {
        format!("version {}, {}", it.meta.number, format_relative(it.meta.first_seen_at, now))
    };
    print_note(&format!("--- {}\n+++ {}", title(&old), title(&new)));
    if texts[0] == texts[1] {
        let identical = old.content == new.content;
        print_note(if identical { "identical" } else { "no difference in the compared content" });
    }
    let style = match (arguments.side_by_side, arguments.words) {
        (true, _) => DiffStyle::Side,
        (_, true) => DiffStyle::Words,
        _ => DiffStyle::Unified,
    };
    print_text(&show_diff(&diff(&texts[0], &texts[1]).truncate_lines(MAX_LINE_LEN), style))?;
    Ok(ExitCode::SUCCESS)
}

fn version(reader: &Reader, id: u32, number: u32) -> Result<Version, Failure> {
    if let Some(version) = reader.version(id, number)? {
        return Ok(version);
    }
    let mut kept: Vec<_> = reader.versions(id)?.iter().map(|it| it.number.to_string()).collect();
    kept.reverse();
    let failure = Failure::new(format!("version {number} is not in the store"));
    Err(match &kept[..] {
        [] => failure.with_hint("there is no version: fetch the source with `freshet check`"),
        _ => failure.with_hint(format!("versions in the store: {}", kept.join(", "))),
    })
}

/// Reads the compared content of a version.
fn read(detector: &Detector, version: &Version) -> Extraction {
    let kind = Some(version.meta.content_kind.as_str()).filter(|kind| !kind.is_empty());
    detector.extract(&Document { bytes: &version.content, content_type: kind, charset: None })
}
