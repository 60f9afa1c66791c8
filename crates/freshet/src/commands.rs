//! The commands, one module each.

mod add;
mod backup;
mod changes;
mod check;
pub(crate) mod crew;
pub(crate) mod curve;
pub(crate) mod demo;
pub(crate) mod detect;
mod diff;
mod export;
pub(crate) mod fetch;
mod find_source;
mod import;
mod init;
mod instance;
pub(crate) mod lab;
mod ls;
mod notify;
pub(crate) mod plan;
mod run;
mod selection;
mod set;
mod settings_arguments;
mod show;
mod signals;
pub(crate) mod simulate;
mod status;
mod token;
pub(crate) mod trace;

use std::process::ExitCode;

use clap::Subcommand;

pub(crate) use crate::commands::run::parse_listen;
use crate::failure::Failure;

/// Commands that work on a configuration and its store.
#[derive(Debug, Subcommand)]
pub(crate) enum InstanceCommand {
    Init(init::InitArguments),
    Add(Box<add::AddArguments>),
    Import(import::ImportArguments),
    Run(run::RunArguments),
    Status(status::StatusArguments),
    Ls(ls::LsArguments),
    Show(show::ShowArguments),
    Check(check::CheckArguments),
    Changes(changes::ChangesArguments),
    Diff(diff::DiffArguments),
    #[command(subcommand)]
    Notify(notify::NotifyCommand),
    Signals(Box<signals::SignalsArguments>),
    Set(Box<set::SetArguments>),
    Pause(set::PauseArguments),
    Resume(set::ResumeArguments),
    Rm(set::RmArguments),
    Export(export::ExportArguments),
    Backup(backup::BackupArguments),
    #[command(subcommand)]
    Token(token::TokenCommand),
}

pub(crate) fn run(command: &InstanceCommand) -> Result<ExitCode, Failure> {
    match command {
        InstanceCommand::Init(arguments) => init::run(arguments),
        InstanceCommand::Add(arguments) => add::run(arguments),
        InstanceCommand::Import(arguments) => import::run(arguments),
        InstanceCommand::Run(arguments) => run::run(arguments),
        InstanceCommand::Status(arguments) => status::run(arguments),
        InstanceCommand::Ls(arguments) => ls::run(arguments),
        InstanceCommand::Show(arguments) => show::run(arguments),
        InstanceCommand::Check(arguments) => check::run(arguments),
        InstanceCommand::Changes(arguments) => changes::run(arguments),
        InstanceCommand::Diff(arguments) => diff::run(arguments),
        InstanceCommand::Notify(command) => notify::run(command),
        InstanceCommand::Signals(arguments) => signals::run(arguments),
        InstanceCommand::Set(arguments) => set::run(arguments),
        InstanceCommand::Pause(arguments) => set::pause(arguments),
        InstanceCommand::Resume(arguments) => set::resume(arguments),
        InstanceCommand::Rm(arguments) => set::rm(arguments),
        InstanceCommand::Export(arguments) => export::run(arguments),
        InstanceCommand::Backup(arguments) => backup::run(arguments),
        InstanceCommand::Token(command) => token::run(command),
    }
}
