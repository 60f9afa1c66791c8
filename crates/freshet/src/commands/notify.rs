//! `freshet notify`: the destinations of notifications.

mod change;
mod destination_arguments;
mod send;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use freshet_store::{Destination, Reader};

use crate::commands::instance::{ConfigArguments, Instance};
use crate::failure::Failure;

/// Manage notifications
///
/// The daemon delivers changes to each destination in order and at least once: by signed webhook, by mail,
/// or by running a command. A destination has a name, an address, and filters that select its changes.
/// Edits take effect immediately, also while the daemon runs.
#[derive(Debug, Subcommand)]
#[command(after_long_help = "\
Examples:
  freshet notify add shop --webhook https://shop.example/hook --tag prices
  freshet notify add me --mail me@example.com --digest 1h
  freshet notify test me
  freshet notify ls
  freshet notify dead shop

docs/guides/notifications.md describes the payloads and how to verify signatures.")]
pub(crate) enum NotifyCommand {
    Add(Box<change::AddArguments>),
    /// List destinations and their state
    Ls(show::LsArguments),
    /// Show a destination and its settings, without secrets
    Show(show::ShowArguments),
    Set(Box<change::SetArguments>),
    /// Pause deliveries to a destination
    ///
    /// Entries that arrive during the pause are delivered after `freshet notify resume`.
    Pause(NameArguments),
    /// Resume deliveries to a paused destination
    ///
    /// Also resumes a destination that was paused because it answered 410 Gone. Entries that arrived during
    /// the pause are delivered.
    Resume(NameArguments),
    /// Remove a destination and its undelivered entries
    Rm(NameArguments),
    Test(send::TestArguments),
    Rotate(change::RotateArguments),
    Dead(show::DeadArguments),
    Retry(send::RetryArguments),
}

#[derive(Debug, Args)]
pub(crate) struct NameArguments {
    /// Name of the destination
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

pub(crate) fn run(command: &NotifyCommand) -> Result<ExitCode, Failure> {
    match command {
        NotifyCommand::Add(arguments) => change::add(arguments),
        NotifyCommand::Ls(arguments) => show::ls(arguments),
        NotifyCommand::Show(arguments) => show::show(arguments),
        NotifyCommand::Set(arguments) => change::set(arguments),
        NotifyCommand::Pause(arguments) => change::pause(arguments, true),
        NotifyCommand::Resume(arguments) => change::pause(arguments, false),
        NotifyCommand::Rm(arguments) => change::rm(arguments),
        NotifyCommand::Test(arguments) => send::test(arguments),
        NotifyCommand::Rotate(arguments) => change::rotate(arguments),
        NotifyCommand::Dead(arguments) => show::dead(arguments),
        NotifyCommand::Retry(arguments) => send::retry(arguments),
    }
}

/// Returns the destination with a name.
fn find(reader: &Reader, name: &str) -> Result<Destination, Failure> {
    let all = reader.destinations()?;
    let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
    let hint = match names.as_slice() {
        [] => format!("add one with `freshet notify add {name} --webhook URL`"),
        names => format!("destinations: {}", names.join(", ")),
    };
    let found = all.iter().find(|it| it.name == name).cloned();
    found.ok_or_else(|| Failure::new(format!("there is no destination {name}")).with_hint(hint))
}

/// Opens an instance and returns it with the destination of a name.
fn open(arguments: &ConfigArguments, name: &str) -> Result<(Instance, Destination), Failure> {
    let instance = Instance::open(arguments)?;
    let row = find(&instance.reader()?, name)?;
    Ok((instance, row))
}

impl From<freshet_notify::InvalidSetting> for Failure {
    fn from(error: freshet_notify::InvalidSetting) -> Self {
        Self::new(error)
    }
}

impl From<freshet_notify::RandomSourceError> for Failure {
    fn from(error: freshet_notify::RandomSourceError) -> Self {
        Self::new(error)
    }
}
