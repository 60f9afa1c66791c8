//! `freshet detect`.

mod arguments;
mod load;
mod report;
mod settings;
mod show;

use std::process::ExitCode;

use freshet_detect::{ChangeVerdict, Detector, Diff, Document, Extraction, diff, is_charset};

pub(crate) use crate::commands::detect::arguments::{DetectArguments, DiffStyle, Share};
pub(crate) use crate::commands::detect::show::{diff as show_diff, remarks};

use crate::commands::detect::load::{LoadedDocument, load};
use crate::failure::Failure;
use crate::output::{print_json, print_note, print_text};

/// Approximate maximum length of a printed line, in characters.
const MAX_LINE_LEN: usize = 2000;

/// Readings of two documents, with the verdict and the differences.
pub(crate) struct Comparison {
    pub(crate) old: Extraction,
    pub(crate) new: Extraction,
    pub(crate) verdict: ChangeVerdict,
    pub(crate) diff: Diff,
}

pub(crate) fn run(arguments: &DetectArguments) -> Result<ExitCode, Failure> {
    if arguments.source == "-" && arguments.other.as_deref() == Some("-") {
        return Err(Failure::new("standard input can be read only once")
            .with_hint("give a file for one of the two documents"));
    }
    if let Some(name) = arguments.charset.as_deref().filter(|it| !is_charset(it)) {
        return Err(Failure::new(format!("unknown charset `{name}`"))
            .with_hint("examples: utf-8, windows-1252, shift_jis, gb18030"));
    }
    let detector = Detector::new(settings::settings(arguments)?);
    let first = load(&arguments.source, arguments)?;
    match &arguments.other {
        None => show_one(&detector, &first, arguments),
        Some(other) => compare(&detector, &first, &load(other, arguments)?, arguments),
    }
}

fn read(detector: &Detector, loaded: &LoadedDocument) -> Extraction {
    detector.explain(&Document {
        bytes: &loaded.bytes,
        content_type: loaded.content_type.as_deref(),
        charset: loaded.charset.as_deref(),
    })
}

fn show_one(
    detector: &Detector,
    loaded: &LoadedDocument,
    arguments: &DetectArguments,
) -> Result<ExitCode, Failure> {
    let reading = read(detector, loaded);
    if arguments.json {
        print_json(&report::ReadingReport::new(&reading, arguments.why))?;
    } else {
        print_note(&show::header(&arguments.source, &reading));
        if arguments.why {
            print_note(&show::ignored_parts(&reading));
        }
        print_text(&reading.text)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn compare(
    detector: &Detector,
    old: &LoadedDocument,
    new: &LoadedDocument,
    arguments: &DetectArguments,
) -> Result<ExitCode, Failure> {
    let (old, new) = (read(detector, old), read(detector, new));
    let verdict = detector.compare(&old.signature(), Some(&old.text), &new);
    let diff = diff(&old.text, &new.text).truncate_lines(MAX_LINE_LEN);
    let comparison = Comparison { old, new, verdict, diff };
    if arguments.json {
        print_json(&report::ComparisonReport::new(&comparison))?;
    } else {
        let other = arguments.other.as_deref().unwrap_or_default();
        for (source, reading) in
            [(arguments.source.as_str(), &comparison.old), (other, &comparison.new)]
        {
            if arguments.why {
                print_note(&show::header(source, reading));
                print_note(&show::ignored_parts(reading));
            } else if let Some(remarks) = show::remarks(source, reading) {
                print_note(&remarks);
            }
        }
        print_note(&show::verdict(&comparison));
        if !matches!(verdict, ChangeVerdict::SameBytes | ChangeVerdict::SameContent) {
            print_text(&show::diff(&comparison.diff, arguments.diff))?;
        }
    }
    Ok(if verdict.is_change() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
