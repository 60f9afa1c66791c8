//! `freshet notify ls`, `show` and `dead`.

use std::process::ExitCode;

use clap::Args;
use freshet_notify::{DeadLetterView, DestinationView};
use freshet_store::{Destination, Reader};

use super::{find, open};
use crate::clock;
use crate::commands::instance::{ConfigArguments, Home};
use crate::failure::Failure;
use crate::number::plural;
use crate::output::{note, print_json, print_json_line, print_line};
use crate::terminal;
use crate::time_format::{from_now, last, next};

#[derive(Debug, Args)]
pub(crate) struct LsArguments {
    /// Print one object on a line for each
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// What it is called
    pub(crate) name: String,

    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Show deliveries that were given up, the oldest first
///
/// Each with its number, when it was given up, the cursors of its first and last entry, and why it failed.
/// `freshet notify retry NAME` sends them again.
#[derive(Debug, Args)]
pub(crate) struct DeadArguments {
    /// To whom
    pub(crate) name: String,

    /// Print one object on a line for each, with what would have been sent
    #[arg(long)]
    pub(crate) json: bool,

    /// Forget them, after they were shown
    #[arg(long)]
    pub(crate) forget: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Letters that are read at once; as many are kept.
pub(super) const LETTERS: usize = 1000;

fn view(reader: &Reader, row: &Destination) -> Result<DestinationView, Failure> {
    Ok(DestinationView::new(row, reader.count_dead_letters(row.id)?))
}

pub(crate) fn ls(arguments: &LsArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let reader = home.reader()?;
    let rows = reader.destinations()?;
    let now = clock::millis();
    for row in &rows {
        let it = view(&reader, row)?;
        let open = match arguments.json {
            true => print_json_line(&it)?,
            false => print_line(&line(&it, row, now))?,
        };
        if !open {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if rows.is_empty() && !arguments.json {
        note("nobody is told: `freshet notify add --help` says how");
    }
    Ok(ExitCode::SUCCESS)
}

fn line(it: &DestinationView, row: &Destination, now: i64) -> String {
    let mut text =
        format!("{:<16}  {:<8} {}  {}", it.name, it.kind, terminal::line(&it.to), state(row, now));
    if it.dead > 0 {
        text.push_str(&format!(", {} given up", it.dead));
    }
    text
}

/// How it goes, in a few words.
fn state(row: &Destination, now: i64) -> String {
    let error = row.error.as_deref().map(terminal::line);
    match (row.paused, error) {
        (true, Some(error)) => format!("paused: {error}"),
        (true, None) => "paused".to_owned(),
        (false, Some(error)) => {
            let times = plural(row.attempts as usize, "time", "times");
            format!("failed {times}: {error}; again {}", next(row.retry_at, now))
        }
        (false, None) => format!("told {}", last(row.delivered_at, now)),
    }
}

pub(crate) fn show(arguments: &ShowArguments) -> Result<ExitCode, Failure> {
    let home = Home::open(&arguments.config)?;
    let reader = home.reader()?;
    let row = find(&reader, &arguments.name)?;
    let it = view(&reader, &row)?;
    if arguments.json {
        print_json(&it)?;
        return Ok(ExitCode::SUCCESS);
    }
    let now = clock::millis();
    let mut lines = vec![
        ("name", it.name.clone()),
        (it.kind, it.to.clone()),
        ("state", state(&row, now)),
        ("told up to", it.cursor.to_string()),
        ("made", from_now(row.created_at, now)),
    ];
    let filter = &it.filter;
    let number = |it: Option<f64>| it.map(|it| it.to_string());
    let kinds: Vec<_> = filter.kinds.iter().map(|it| it.name()).collect();
    let said = [
        ("from", it.from.clone()),
        ("tag", filter.tag.clone()),
        ("host", filter.host.clone()),
        ("url", filter.url.clone()),
        ("importance", number(filter.min_importance).map(|it| format!("{it} or more"))),
        ("same", number(filter.max_similarity).map(|it| format!("{it} or less"))),
        ("kinds", Some(kinds.join(", ")).filter(|it| !it.is_empty())),
        ("digest", it.digest.clone().map(|it| format!("one message in {it}"))),
        ("subject", it.subject.clone()),
        ("text", it.text.clone()),
        ("headers", Some(it.headers.join(", ")).filter(|it| !it.is_empty())),
        ("given up", (it.dead > 0).then(|| it.dead.to_string())),
    ];
    lines.extend(said.into_iter().filter_map(|(name, value)| Some((name, value?))));
    for key in &it.keys {
        let until = key.until.as_ref().map_or(String::new(), |until| format!(", until {until}"));
        lines.push(("secret", format!("made {}{until}", key.made)));
    }
    for (name, value) in lines {
        if !print_line(&format!("{name:<11} {}", terminal::line(&value)))? {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn dead(arguments: &DeadArguments) -> Result<ExitCode, Failure> {
    let (home, row) = open(&arguments.config, &arguments.name)?;
    let letters = home.reader()?.dead_letters(row.id, 0, LETTERS)?;
    let now = clock::millis();
    for letter in &letters {
        let it = DeadLetterView::new(letter);
        let open = match arguments.json {
            true => print_json_line(&it)?,
            false => {
                let entries = it.letter.map_or(0, |letter| letter.entries.len());
                let entries = plural(entries, "entry", "entries");
                print_line(&format!(
                    "{:>5}  {:>10}  {} to {} ({entries}), tried {}: {}",
                    it.id,
                    from_now(letter.delivery.at, now),
                    it.first,
                    it.last,
                    plural(it.attempts as usize, "time", "times"),
                    terminal::line(&it.error),
                ))?
            }
        };
        if !open {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if letters.is_empty() && !arguments.json {
        note("nothing was given up");
    }
    if arguments.forget && !letters.is_empty() {
        let dead = letters.iter().map(|it| it.id).collect();
        let edit = freshet_daemon::DestinationEdit::Unbury { dead };
        let gone = home.editor()?.destination(edit)?;
        note(&format!("forgot {gone}"));
    }
    Ok(ExitCode::SUCCESS)
}
