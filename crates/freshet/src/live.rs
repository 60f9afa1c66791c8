//! The commands around the daemon: what is kept fresh, how it goes, and what changed.

mod add;
mod backup;
mod changes;
mod check;
mod diff;
mod export;
mod given;
mod home;
mod import;
mod init;
mod ls;
mod moment;
mod near;
mod notify;
mod run;
mod set;
mod show;
mod signals;
mod status;
mod token;
mod which;

use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Failure;
pub(crate) use crate::live::run::listen;

/// Commands on a configuration and its store.
#[derive(Debug, Subcommand)]
pub(crate) enum LiveCommand {
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

pub(crate) fn run(command: &LiveCommand) -> Result<ExitCode, Failure> {
    match command {
        LiveCommand::Init(arguments) => init::run(arguments),
        LiveCommand::Add(arguments) => add::run(arguments),
        LiveCommand::Import(arguments) => import::run(arguments),
        LiveCommand::Run(arguments) => run::run(arguments),
        LiveCommand::Status(arguments) => status::run(arguments),
        LiveCommand::Ls(arguments) => ls::run(arguments),
        LiveCommand::Show(arguments) => show::run(arguments),
        LiveCommand::Check(arguments) => check::run(arguments),
        LiveCommand::Changes(arguments) => changes::run(arguments),
        LiveCommand::Diff(arguments) => diff::run(arguments),
        LiveCommand::Notify(command) => notify::run(command),
        LiveCommand::Signals(arguments) => signals::run(arguments),
        LiveCommand::Set(arguments) => set::run(arguments),
        LiveCommand::Pause(arguments) => set::pause(arguments),
        LiveCommand::Resume(arguments) => set::resume(arguments),
        LiveCommand::Rm(arguments) => set::rm(arguments),
        LiveCommand::Export(arguments) => export::run(arguments),
        LiveCommand::Backup(arguments) => backup::run(arguments),
        LiveCommand::Token(command) => token::run(command),
    }
}
