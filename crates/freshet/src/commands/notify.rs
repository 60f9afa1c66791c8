//! `freshet notify`: who is told of changes, and how.

mod change;
mod given;
mod send;
mod show;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use freshet_store::{Destination, Reader};

use crate::commands::instance::{ConfigArguments, Home};
use crate::failure::Failure;

/// Say who is told of changes, and how
///
/// The daemon tells each destination of all changes that it wants, in order and at least once: by a
/// signed webhook, by mail, or by a command of yours. A destination has a name, a place, and filters that
/// say what it wants. Changes made here count at once, also while the daemon runs.
#[derive(Debug, Subcommand)]
#[command(after_long_help = "\
Examples:
  freshet notify add shop --webhook https://shop.example/hook --tag prices
  freshet notify add me --mail me@example.com --digest 1h
  freshet notify test me
  freshet notify ls
  freshet notify dead shop

docs/notify.md tells what is sent, and how signatures are checked.")]
pub(crate) enum NotifyCommand {
    Add(Box<change::AddArguments>),
    /// List destinations, and how it goes with each
    Ls(show::LsArguments),
    /// Show one destination with all its settings, without secrets
    Show(show::ShowArguments),
    Set(Box<change::SetArguments>),
    /// Tell nothing until `freshet notify resume`; what comes meanwhile is told then
    Pause(NameArguments),
    /// Go on after a pause, with what came meanwhile; also if the other side said 410
    Resume(NameArguments),
    /// Forget a destination, and what could not be delivered to it
    Rm(NameArguments),
    Test(send::TestArguments),
    Rotate(change::RotateArguments),
    Dead(show::DeadArguments),
    Retry(send::RetryArguments),
}

#[derive(Debug, Args)]
pub(crate) struct NameArguments {
    /// What it is called
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

/// The destination of a name.
fn find(reader: &Reader, name: &str) -> Result<Destination, Failure> {
    let all = reader.destinations()?;
    let names: Vec<&str> = all.iter().map(|it| it.name.as_str()).collect();
    let hint = match names.as_slice() {
        [] => format!("make one with `freshet notify add {name} --webhook URL`"),
        some => format!("there are {}", some.join(", ")),
    };
    let found = all.iter().find(|it| it.name == name).cloned();
    found.ok_or_else(|| Failure::new(format!("there is no destination {name}")).hint(hint))
}

/// A configuration, and the destination of a name in its store.
fn open(arguments: &ConfigArguments, name: &str) -> Result<(Home, Destination), Failure> {
    let home = Home::open(arguments)?;
    let row = find(&home.reader()?, name)?;
    Ok((home, row))
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
