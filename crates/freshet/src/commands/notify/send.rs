//! `freshet notify test` and `retry`: what is sent by the command itself.

use std::process::ExitCode;

use clap::Args;
use freshet_daemon::DestinationEdit;
use freshet_notify::{DeliveryError, NotifySettings, Sender, Target};
use tokio::runtime::{Builder, Runtime};

use super::open;
use super::show::LETTERS;
use crate::clock;
use crate::commands::instance::{ConfigArguments, Home};
use crate::failure::Failure;
use crate::output::{note, print_json, print_line};
use crate::terminal;

/// Send something that shows that it arrives
///
/// It is marked as a test, and says that nothing has changed. Exit code 0: it arrived; 1: it did not.
#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    /// To whom
    pub(crate) name: String,

    /// Print what was sent and answered as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Send again what was given up, the oldest first
///
/// Each that arrives is forgotten. It ends with the first that does not. Exit code 0: all arrived; 1:
/// one did not.
#[derive(Debug, Args)]
pub(crate) struct RetryArguments {
    /// To whom
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

fn runtime() -> Result<Runtime, Failure> {
    let built = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    built.map_err(|error| Failure::new(format!("cannot start: {error}")))
}

/// What it takes to tell a target, with the secrets that this needs.
fn settings(home: &Home, target: &Target) -> Result<NotifySettings, Failure> {
    match target.kind() {
        "webhook" => home.config.fetch_secrets()?,
        "email" => home.config.mail_secret()?,
        _ => {}
    }
    Ok(NotifySettings::from_config(&home.config))
}

fn failed(trouble: &DeliveryError) {
    note(&format!("did not arrive: {}", terminal::line(&trouble.message)));
    if let Some(answer) = trouble.response.as_deref().filter(|it| !it.is_empty()) {
        note(&format!("answer: {}", terminal::line(answer)));
    }
}

pub(crate) fn test(arguments: &TestArguments) -> Result<ExitCode, Failure> {
    let (home, row) = open(&arguments.config, &arguments.name)?;
    let target = Target::parse(&row.settings)?;
    let settings = settings(&home, &target)?;
    let sent = runtime()?.block_on(async {
        Sender::new(settings).send_test(&row.name, &target, clock::millis()).await
    });
    match sent {
        Ok(receipt) => {
            if arguments.json {
                print_json(&receipt)?;
            } else {
                let sent = format!("sent {} to {}", receipt.sent, terminal::line(&receipt.to));
                let _ = print_line(&sent)?
                    && print_line(&format!("answer: {}", terminal::line(&receipt.answer)))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(trouble) => {
            failed(&trouble);
            Ok(ExitCode::from(1))
        }
    }
}

pub(crate) fn retry(arguments: &RetryArguments) -> Result<ExitCode, Failure> {
    let (home, row) = open(&arguments.config, &arguments.name)?;
    let target = Target::parse(&row.settings)?;
    let reader = home.reader()?;
    let (letters, identity) = (reader.dead_letters(row.id, 0, LETTERS)?, reader.identity()?);
    let (runtime, all) = (runtime()?, letters.len());
    let settings = settings(&home, &target)?;
    // Made where it is used: it begins tasks of its own.
    let sender = runtime.block_on(async { Sender::new(settings) });
    for (sent, letter) in letters.into_iter().enumerate() {
        let now = clock::millis();
        let resent = sender.resend(&identity, &row, &target, &letter.delivery, now);
        if let Err(trouble) = runtime.block_on(resent) {
            failed(&trouble);
            note(&format!("sent {sent} of {all}"));
            return Ok(ExitCode::from(1));
        }
        // One at a time: what arrived is not sent again, whatever happens to the next.
        home.editor()?.destination(DestinationEdit::Redelivered { dead: letter.id })?;
    }
    note(&if all == 0 { "nothing was given up".to_owned() } else { format!("sent {all}") });
    Ok(ExitCode::SUCCESS)
}
