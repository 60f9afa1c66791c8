//! `freshet notify ls`, `show` and `dead`.

use std::process::ExitCode;

use clap::Args;
use freshet_notify::{DeadLetterView, DestinationView};
use freshet_store::{Destination, Reader};

use super::{find, open};
use crate::clock;
use crate::commands::instance::{ConfigArguments, Instance};
use crate::failure::Failure;
use crate::number::pluralize;
use crate::output::{print_json, print_json_line, print_line, print_note};
use crate::terminal;
use crate::time_format::{format_last, format_next, format_relative};

#[derive(Debug, Args)]
pub(crate) struct LsArguments {
    /// Print the destinations as JSON, one object per line
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// Name of the destination
    pub(crate) name: String,

    /// Print the destination as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// List dead deliveries, the oldest first
///
/// A delivery is dead after the last failed attempt. The list shows its number, the time, the cursors of
/// its first and last entry, and the error. `freshet notify retry NAME` retries them.
#[derive(Debug, Args)]
pub(crate) struct DeadArguments {
    /// Name of the destination
    pub(crate) name: String,

    /// Print the deliveries as JSON with their payloads, one object per line
    #[arg(long)]
    pub(crate) json: bool,

    /// Delete the deliveries after listing them
    #[arg(long)]
    pub(crate) forget: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Maximum number of dead deliveries that are read; the store keeps as many.
pub(super) const MAX_DEAD: usize = 1000;

fn read_view(reader: &Reader, row: &Destination) -> Result<DestinationView, Failure> {
    Ok(DestinationView::new(row, reader.count_dead_letters(row.id)?))
}

pub(crate) fn ls(arguments: &LsArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let reader = instance.reader()?;
    let rows = reader.destinations()?;
    let now = clock::now_millis();
    for row in &rows {
        let it = read_view(&reader, row)?;
        let open = match arguments.json {
            true => print_json_line(&it)?,
            false => print_line(&format_line(&it, row, now))?,
        };
        if !open {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if rows.is_empty() && !arguments.json {
        print_note(
            "no destinations yet\n\nhint: add one with `freshet notify add NAME --webhook URL`",
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn format_line(it: &DestinationView, row: &Destination, now: i64) -> String {
    let mut text = format!(
        "{:<16}  {:<8} {}  {}",
        it.name,
        it.kind,
        terminal::sanitize_line(&it.to),
        describe_state(row, now)
    );
    if it.dead > 0 {
        text.push_str(&format!(", {} dead", pluralize(it.dead as usize, "delivery", "deliveries")));
    }
    text
}

/// Describes the state of a destination.
fn describe_state(row: &Destination, now: i64) -> String {
    let error = row.error.as_deref().map(terminal::sanitize_line);
    match (row.paused, error) {
        (true, Some(error)) => format!("paused: {error}"),
        (true, None) => "paused".to_owned(),
        (false, Some(error)) => {
            let times = pluralize(row.attempts as usize, "time", "times");
            format!("failed {times}: {error}; next attempt {}", format_next(row.retry_at, now))
        }
        (false, None) => format!("last delivery {}", format_last(row.delivered_at, now)),
    }
}

pub(crate) fn show(arguments: &ShowArguments) -> Result<ExitCode, Failure> {
    let instance = Instance::open(&arguments.config)?;
    let reader = instance.reader()?;
    let row = find(&reader, &arguments.name)?;
    let it = read_view(&reader, &row)?;
    if arguments.json {
        print_json(&it)?;
        return Ok(ExitCode::SUCCESS);
    }
    let now = clock::now_millis();
    let mut lines = vec![
        ("name", it.name.clone()),
        (it.kind, it.to.clone()),
        ("state", describe_state(&row, now)),
        ("cursor", it.cursor.to_string()),
        ("created", format_relative(row.created_at, now)),
    ];
    let filter = &it.filter;
    let number = |it: Option<f64>| it.map(|it| it.to_string());
    let kinds: Vec<_> = filter.kinds.iter().map(|it| it.name()).collect();
    let optional = [
        ("from", it.from.clone()),
        ("tag", filter.tag.clone()),
        ("host", filter.host.clone()),
        ("url", filter.url.clone()),
        ("importance", number(filter.min_importance).map(|it| format!("{it} or more"))),
        ("similarity", number(filter.max_similarity).map(|it| format!("{it} or less"))),
        ("kinds", Some(kinds.join(", ")).filter(|it| !it.is_empty())),
        ("digest", it.digest.clone().map(|it| format!("one message per {it}"))),
        ("subject", it.subject.clone()),
        ("text", it.text.clone()),
        ("headers", Some(it.headers.join(", ")).filter(|it| !it.is_empty())),
        ("dead", (it.dead > 0).then(|| it.dead.to_string())),
    ];
    lines.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
    for key in &it.keys {
        let until = key.until.as_ref().map_or(String::new(), |until| format!(", until {until}"));
        lines.push(("secret", format!("created {}{until}", key.made)));
    }
    for (name, value) in lines {
        if !print_line(&format!("{name:<11} {}", terminal::sanitize_line(&value)))? {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn dead(arguments: &DeadArguments) -> Result<ExitCode, Failure> {
    let (instance, row) = open(&arguments.config, &arguments.name)?;
    let deliveries = instance.reader()?.dead_letters(row.id, 0, MAX_DEAD)?;
    let now = clock::now_millis();
    for delivery in &deliveries {
        let it = DeadLetterView::new(delivery);
        let open = match arguments.json {
            true => print_json_line(&it)?,
            false => {
                let entries = it.letter.map_or(0, |letter| letter.entries.len());
                let entries = pluralize(entries, "entry", "entries");
                print_line(&format!(
                    "{:>5}  {:>10}  {} to {} ({entries}), tried {}: {}",
                    it.id,
                    format_relative(delivery.delivery.at, now),
                    it.first,
                    it.last,
                    pluralize(it.attempts as usize, "time", "times"),
                    terminal::sanitize_line(&it.error),
                ))?
            }
        };
        if !open {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if deliveries.is_empty() && !arguments.json {
        print_note("no dead deliveries");
    }
    if arguments.forget && !deliveries.is_empty() {
        let dead = deliveries.iter().map(|it| it.id).collect();
        let edit = freshet_daemon::DestinationEdit::RemoveDeadLetters { dead_letters: dead };
        let deleted = instance.editor()?.edit_destination(edit)?;
        print_note(&format!("deleted {}", pluralize(deleted as usize, "delivery", "deliveries")));
    }
    Ok(ExitCode::SUCCESS)
}
