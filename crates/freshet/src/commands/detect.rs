//! `freshet detect`.

mod arguments;
mod load;
mod report;
mod settings;
mod show;

use std::process::ExitCode;

use freshet_detect::{Detector, Diff, Document, Reading, Verdict, diff, is_charset};

pub(crate) use crate::commands::detect::arguments::{DetectArguments, DiffStyle, Share};
pub(crate) use crate::commands::detect::show::{diff as show_diff, remarks};

use crate::commands::detect::load::{Loaded, load};
use crate::failure::Failure;
use crate::output::{note, print_json, print_text};

/// Characters of a line that are shown, about.
const LONGEST_LINE: usize = 2000;

/// Two readings, and what is between them.
pub(crate) struct Comparison {
    pub(crate) old: Reading,
    pub(crate) new: Reading,
    pub(crate) verdict: Verdict,
    pub(crate) diff: Diff,
}

pub(crate) fn run(arguments: &DetectArguments) -> Result<ExitCode, Failure> {
    if arguments.source == "-" && arguments.other.as_deref() == Some("-") {
        return Err(
            Failure::new("standard input can be read once").hint("give a file for one of the two")
        );
    }
    if let Some(name) = arguments.charset.as_deref().filter(|it| !is_charset(it)) {
        return Err(Failure::new(format!("there is no charset `{name}`"))
            .hint("names are such as utf-8, windows-1252, shift_jis or gb18030"));
    }
    let detector = Detector::new(settings::settings(arguments)?);
    let first = load(&arguments.source, arguments)?;
    match &arguments.other {
        None => one(&detector, &first, arguments),
        Some(other) => two(&detector, &first, &load(other, arguments)?, arguments),
    }
}

fn read(detector: &Detector, loaded: &Loaded) -> Reading {
    detector.explain(&Document {
        bytes: &loaded.bytes,
        content_type: loaded.content_type.as_deref(),
        charset: loaded.charset.as_deref(),
    })
}

fn one(
    detector: &Detector,
    loaded: &Loaded,
    arguments: &DetectArguments,
) -> Result<ExitCode, Failure> {
    let reading = read(detector, loaded);
    if arguments.json {
        print_json(&report::Read::of(&reading, arguments.why))?;
    } else {
        note(&show::header(&arguments.source, &reading));
        if arguments.why {
            note(&show::left_out(&reading));
        }
        print_text(&reading.text)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn two(
    detector: &Detector,
    old: &Loaded,
    new: &Loaded,
    arguments: &DetectArguments,
) -> Result<ExitCode, Failure> {
    let (old, new) = (read(detector, old), read(detector, new));
    let verdict = detector.judge(&old.stored(), Some(&old.text), &new);
    let diff = diff(&old.text, &new.text).cut(LONGEST_LINE);
    let compared = Comparison { old, new, verdict, diff };
    if arguments.json {
        print_json(&report::Compared::of(&compared))?;
    } else {
        let other = arguments.other.as_deref().unwrap_or_default();
        for (source, reading) in
            [(arguments.source.as_str(), &compared.old), (other, &compared.new)]
        {
            if arguments.why {
                note(&show::header(source, reading));
                note(&show::left_out(reading));
            } else if let Some(remarks) = show::remarks(source, reading) {
                note(&remarks);
            }
        }
        note(&show::verdict(&compared));
        if !matches!(verdict, Verdict::SameBytes | Verdict::SameContent) {
            print_text(&show::diff(&compared.diff, arguments.diff))?;
        }
    }
    Ok(if verdict.is_change() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}
