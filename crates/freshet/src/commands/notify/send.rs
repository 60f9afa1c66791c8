//! `freshet notify test` and `retry`, which send deliveries themselves.

use std::process::ExitCode;

use clap::Args;
use freshet_daemon::DestinationEdit;
use freshet_notify::{DeliveryError, NotifySettings, Sender, Target};
use tokio::runtime::{Builder, Runtime};

use super::open;
use super::show::MAX_DEAD;
use crate::clock;
use crate::commands::instance::{ConfigArguments, Instance};
use crate::failure::Failure;
use crate::number::pluralize;
use crate::output::{print_json, print_line, print_note};
use crate::terminal;

/// Send a test notification
///
/// The notification is marked as a test and states that nothing has changed. Exit code 0: it was
/// delivered; 1: it was not.
#[derive(Debug, Args)]
pub(crate) struct TestArguments {
    /// Name of the destination
    pub(crate) name: String,

    /// Print the notification and the response as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Retry dead deliveries, the oldest first
///
/// Each delivery that succeeds is removed from the list. The command stops at the first failure. Exit code
/// 0: all were delivered; 1: a delivery failed.
#[derive(Debug, Args)]
pub(crate) struct RetryArguments {
    /// Name of the destination
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

fn new_runtime() -> Result<Runtime, Failure> {
    let built = Builder::new_multi_thread().worker_threads(1).enable_all().build();
    built.map_err(|error| Failure::new(format!("cannot start: {error}")))
}

/// Loads the settings for deliveries to a destination, with the secrets that it needs.
fn load_settings(instance: &Instance, target: &Target) -> Result<NotifySettings, Failure> {
    match target.kind() {
        "webhook" => instance.config.check_fetch_secrets()?,
        "email" => instance.config.check_mail_secret()?,
        _ => {}
    }
    Ok(NotifySettings::from_config(&instance.config))
}

fn print_error(error: &DeliveryError) {
    print_note(&format!("delivery failed: {}", terminal::sanitize_line(&error.message)));
    if let Some(answer) = error.response.as_deref().filter(|it| !it.is_empty()) {
        print_note(&format!("response: {}", terminal::sanitize_line(answer)));
    }
}

pub(crate) fn test(arguments: &TestArguments) -> Result<ExitCode, Failure> {
    let (instance, row) = open(&arguments.config, &arguments.name)?;
    let target = Target::parse(&row.settings)?;
    let settings = load_settings(&instance, &target)?;
    let sent = new_runtime()?.block_on(async {
        Sender::new(settings).send_test(&row.name, &target, clock::now_millis()).await
    });
    match sent {
        Ok(receipt) => {
            if arguments.json {
                print_json(&receipt)?;
            } else {
                let sent =
                    format!("sent {} to {}", receipt.sent, terminal::sanitize_line(&receipt.to));
                let _ = print_line(&sent)?
                    && print_line(&format!(
                        "response: {}",
                        terminal::sanitize_line(&receipt.answer)
                    ))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            print_error(&error);
            Ok(ExitCode::from(1))
        }
    }
}

pub(crate) fn retry(arguments: &RetryArguments) -> Result<ExitCode, Failure> {
    let (instance, row) = open(&arguments.config, &arguments.name)?;
    let target = Target::parse(&row.settings)?;
    let reader = instance.reader()?;
    let (deliveries, identity) = (reader.dead_letters(row.id, 0, MAX_DEAD)?, reader.identity()?);
    let (runtime, total) = (new_runtime()?, deliveries.len());
    let settings = load_settings(&instance, &target)?;
    // Created on the runtime, because it spawns tasks.
    let sender = runtime.block_on(async { Sender::new(settings) });
    for (sent, dead) in deliveries.into_iter().enumerate() {
        let now = clock::now_millis();
        let resent = sender.resend(&identity, &row, &target, &dead.delivery, now);
        if let Err(error) = runtime.block_on(resent) {
            print_error(&error);
            print_note(&format!("sent {sent} of {total}"));
            return Ok(ExitCode::from(1));
        }
        // Removed immediately, so that a delivered entry is not sent again if the next one fails.
        instance
            .editor()?
            .edit_destination(DestinationEdit::CompleteRedelivery { dead_letter: dead.id })?;
    }
    print_note(&if total == 0 {
        "no dead deliveries".to_owned()
    } else {
        format!("sent {}", pluralize(total, "delivery", "deliveries"))
    });
    Ok(ExitCode::SUCCESS)
}
