//! `freshet notify add`, `set`, `pause`, `resume`, `rm` and `rotate`.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use clap::{ArgGroup, Args};
use freshet_daemon::DestinationEdit;
use freshet_notify::{
    NotifySettings, RawChannel, RawCommand, RawEmail, RawTarget, RawWebhook, Sender, SigningKey,
    Target, check_name,
};

use super::destination_arguments::DestinationArguments;
use super::{NameArguments, open};
use crate::clock;
use crate::commands::instance::{ConfigArguments, Instance};
use crate::failure::Failure;
use crate::output::{print_line, print_note};

/// Add a destination
///
/// A webhook receives JSON, signed with a secret that is shown only once. Mail is sent through the server
/// under `[mail]` in the configuration; a command must be listed there under `[commands]`. `freshet notify
/// test NAME` sends a test notification.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("where").required(true).args(["webhook", "mail", "command"])))]
#[command(after_long_help = "\
Examples:
  freshet notify add shop --webhook https://shop.example/hook --tag prices
  freshet notify add me --mail me@example.com --digest 1h --min-importance 2
  freshet notify add log --command page --kind failing --kind recovered

Kinds of entries:
  changed    the compared content of a source has changed
  failing    a source could not be fetched several times in a row (`failures` under `[watch]`)
  recovered  a source that was failing or gone can be fetched again
  quiet      a source has not changed for a long time (`quiet` under `[watch]`)
  gone       the host reports that the source no longer exists

The cursor of an entry is its number in the change log; `freshet changes` shows it.")]
pub(crate) struct AddArguments {
    /// Name of the destination: letters, digits, `-`, `_` and `.`
    pub(crate) name: String,

    /// Post JSON to this URL
    #[arg(long, value_name = "URL", help_heading = "Address")]
    pub(crate) webhook: Option<String>,

    /// Send mail to this address; may be repeated
    #[arg(long, value_name = "ADDRESS", help_heading = "Address")]
    pub(crate) mail: Vec<String>,

    /// Run the command with this name in the configuration
    #[arg(long, value_name = "NAME", help_heading = "Address")]
    pub(crate) command: Option<String>,

    /// Deliver entries after this cursor; 0 for all entries [default: only new entries]
    #[arg(long, value_name = "CURSOR", help_heading = "Filters")]
    pub(crate) after: Option<i64>,

    #[command(flatten)]
    pub(crate) settings: DestinationArguments,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Edit a destination
///
/// Settings that are not given stay as they are. An empty value removes a setting: --tag '', --kind ''.
/// Failed deliveries are retried immediately with the new settings.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet notify set me --digest 1d
  freshet notify set shop --tag '' --host shop.example")]
pub(crate) struct SetArguments {
    /// Name of the destination
    pub(crate) name: String,

    /// Post JSON to this URL; the secret stays the same
    #[arg(long, value_name = "URL", help_heading = "Address")]
    pub(crate) webhook: Option<String>,

    /// Send mail to this address instead; may be repeated
    #[arg(long, value_name = "ADDRESS", help_heading = "Address")]
    pub(crate) mail: Vec<String>,

    /// Run the command with this name in the configuration
    #[arg(long, value_name = "NAME", help_heading = "Address")]
    pub(crate) command: Option<String>,

    #[command(flatten)]
    pub(crate) settings: DestinationArguments,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Rotate the secret of a webhook
///
/// The new secret is shown only once. During the grace period, each delivery carries two signatures, one
/// with the new and one with the old secret, so that the receiver can switch over.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet notify rotate shop
  freshet notify rotate shop --grace 1h")]
pub(crate) struct RotateArguments {
    /// Name of the destination
    pub(crate) name: String,

    /// Time for which the old secret stays valid; 0 to revoke it immediately
    #[arg(long, value_name = "TIME", default_value = "24h")]
    pub(crate) grace: String,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

pub(crate) fn add(arguments: &AddArguments) -> Result<ExitCode, Failure> {
    check_name(&arguments.name)?;
    let instance = Instance::open(&arguments.config)?;
    let mut key = None;
    let to = if let Some(url) = &arguments.webhook {
        let new_key = SigningKey::generate(clock::now_millis())?;
        key = Some(new_key.reveal_secret().to_owned());
        let (url, headers, keys) = (url.clone(), BTreeMap::new(), vec![new_key]);
        RawChannel::Webhook(RawWebhook { url, headers, keys })
    } else if let Some(name) = &arguments.command {
        RawChannel::Command(RawCommand { name: name.clone() })
    } else {
        RawChannel::Email(RawEmail { to: arguments.mail.clone(), from: None })
    };
    let mut raw = RawTarget::new(to);
    arguments.settings.apply_to(&mut raw)?;
    let target = Target::try_from(raw)?;
    if arguments.after.is_some_and(|after| after < 0) {
        return Err(Failure::new("the cursor is negative").with_location("--after"));
    }
    let edit = DestinationEdit::Create {
        name: arguments.name.clone(),
        settings: target.to_json(),
        after: arguments.after,
    };
    instance.editor()?.edit_destination(edit)?;
    print_note(&format!("added {}: {}", arguments.name, target.redacted_address()));
    warn_if_not_configured(&instance, &target);
    print_secret(key)
}

/// Warns if the configuration does not allow deliveries to a destination yet.
fn warn_if_not_configured(instance: &Instance, target: &Target) {
    if let Err(error) =
        Sender::new(NotifySettings::from_config(&instance.config)).check_configured(target)
    {
        print_note(&format!("warning: cannot deliver yet: {error}"));
    }
}

/// Prints a new secret.
fn print_secret(key: Option<String>) -> Result<ExitCode, Failure> {
    if let Some(key) = key {
        print_note("secret for verifying signatures; it is not shown again:");
        print_line(&key)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn set(arguments: &SetArguments) -> Result<ExitCode, Failure> {
    let SetArguments { webhook, mail, command, settings, .. } = arguments;
    if webhook.is_none() && mail.is_empty() && command.is_none() && settings.is_empty() {
        return Err(Failure::new("no settings are given").with_hint(
            "give a setting such as --digest 1h; `freshet notify set --help` lists them",
        ));
    }
    let (instance, row) = open(&arguments.config, &arguments.name)?;
    let mut result = Ok(());
    let target = Target::parse(&row.settings)?.modify(|raw| {
        let wrong_kind =
            |kind| Failure::new(format!("{} is not a {kind} destination", arguments.name));
        match (&mut raw.to, webhook, mail.as_slice(), command) {
            (_, None, [], None) => {}
            (RawChannel::Webhook(hook), Some(url), [], None) => hook.url.clone_from(url),
            (RawChannel::Email(email), None, to @ [_, ..], None) => email.to = to.to_vec(),
            (RawChannel::Command(it), None, [], Some(name)) => it.name.clone_from(name),
            (_, Some(_), ..) => result = Err(wrong_kind("webhook")),
            (_, _, [_, ..], _) => result = Err(wrong_kind("mail")),
            _ => result = Err(wrong_kind("command")),
        }
        if result.is_ok() {
            result = settings.apply_to(raw);
        }
    });
    result?;
    let target = target?;
    let (id, settings, before) = (row.id, target.to_json(), row.settings);
    instance.editor()?.edit_destination(DestinationEdit::Update {
        id,
        settings,
        expected_settings: before,
    })?;
    print_note(&format!("edited {}", arguments.name));
    warn_if_not_configured(&instance, &target);
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn pause(arguments: &NameArguments, paused: bool) -> Result<ExitCode, Failure> {
    let (instance, row) = open(&arguments.config, &arguments.name)?;
    instance.editor()?.edit_destination(DestinationEdit::SetPaused { id: row.id, paused })?;
    let action = if paused { "paused" } else { "resumed" };
    print_note(&format!("{action} {}", row.name));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn rm(arguments: &NameArguments) -> Result<ExitCode, Failure> {
    let (instance, row) = open(&arguments.config, &arguments.name)?;
    instance.editor()?.edit_destination(DestinationEdit::Remove { id: row.id })?;
    print_note(&format!("removed {}", row.name));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn rotate(arguments: &RotateArguments) -> Result<ExitCode, Failure> {
    let grace = match arguments.grace.as_str() {
        "0" | "0s" => Duration::ZERO,
        text => freshet_fetch::parse_duration(text).ok_or_else(|| {
            Failure::new(format!("`{text}` is not a time such as 24h")).with_location("--grace")
        })?,
    };
    let (instance, row) = open(&arguments.config, &arguments.name)?;
    let mut target = Target::parse(&row.settings)?;
    let Some(key) = target.rotate_key(clock::now_millis(), grace)? else {
        return Err(Failure::new(format!("{} is not a webhook, and has no secret", row.name)));
    };
    let (id, settings, before) = (row.id, target.to_json(), row.settings);
    instance.editor()?.edit_destination(DestinationEdit::RotateKey {
        id,
        settings,
        expected_settings: before,
    })?;
    let grace = &arguments.grace;
    print_note(&format!("{} has a new secret; the old one is valid for {grace}", row.name));
    print_secret(Some(key.reveal_secret().to_owned()))
}
