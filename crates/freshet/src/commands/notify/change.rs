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

use super::given::GivenArguments;
use super::{NameArguments, open};
use crate::clock;
use crate::commands::instance::{ConfigArguments, Home};
use crate::failure::Failure;
use crate::output::{note, print_line};

/// Tell somebody of changes from now on
///
/// A webhook gets JSON, signed with a secret that is shown here and never again. Mail goes through the
/// server under `[mail]` in the configuration, a command must be named there under `[commands]`. Nothing is
/// sent yet: `freshet notify test NAME` does that.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("where").required(true).args(["webhook", "mail", "command"])))]
#[command(after_long_help = "\
Examples:
  freshet notify add shop --webhook https://shop.example/hook --tag prices
  freshet notify add me --mail me@example.com --digest 1h --min-importance 2
  freshet notify add log --command tell --kind failing --kind recovered

What entries tell:
  changed    what counts of a source has changed
  failing    it could not be fetched so many times in a row: `failures` under `[watch]`
  recovered  one that was failing or gone can be fetched again
  quiet      it has not changed for so long: `quiet` under `[watch]`
  gone       the host says that it is no more

Each entry has a cursor, its number in the log: `freshet changes` shows them.")]
pub(crate) struct AddArguments {
    /// A name for it: letters, digits, -, _ and .
    pub(crate) name: String,

    /// Post JSON to this URL
    #[arg(long, value_name = "URL", help_heading = "Where")]
    pub(crate) webhook: Option<String>,

    /// Send mail to this address; may be given more than once
    #[arg(long, value_name = "ADDRESS", help_heading = "Where")]
    pub(crate) mail: Vec<String>,

    /// Run this command of the configuration
    #[arg(long, value_name = "NAME", help_heading = "Where")]
    pub(crate) command: Option<String>,

    /// Also tell of what came after this cursor; 0 is before all [default: from now on]
    #[arg(long, value_name = "CURSOR", help_heading = "Which entries")]
    pub(crate) after: Option<i64>,

    #[command(flatten)]
    pub(crate) given: GivenArguments,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Change the settings of a destination
///
/// What is not given stays as it is. An empty text takes away what was given before: --tag '', --kind ''.
/// What could not be delivered is tried at once, with the new settings.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet notify set me --digest 1d
  freshet notify set shop --tag '' --host shop.example")]
pub(crate) struct SetArguments {
    /// What it is called
    pub(crate) name: String,

    /// Post JSON to this URL; the secret stays
    #[arg(long, value_name = "URL", help_heading = "Where")]
    pub(crate) webhook: Option<String>,

    /// Send mail to this address, and no other; may be given more than once
    #[arg(long, value_name = "ADDRESS", help_heading = "Where")]
    pub(crate) mail: Vec<String>,

    /// Run this command of the configuration
    #[arg(long, value_name = "NAME", help_heading = "Where")]
    pub(crate) command: Option<String>,

    #[command(flatten)]
    pub(crate) given: GivenArguments,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

/// Make a new secret for a webhook
///
/// It is shown here and never again. For a day, or --grace, each delivery has two signatures: one by the
/// new secret and one by the old one, so that the other side can change over meanwhile.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  freshet notify rotate shop
  freshet notify rotate shop --grace 1h")]
pub(crate) struct RotateArguments {
    /// What it is called
    pub(crate) name: String,

    /// How long the old one signs as well; 0 for not at all
    #[arg(long, value_name = "TIME", default_value = "24h")]
    pub(crate) grace: String,

    #[command(flatten)]
    pub(crate) config: ConfigArguments,
}

pub(crate) fn add(arguments: &AddArguments) -> Result<ExitCode, Failure> {
    check_name(&arguments.name)?;
    let home = Home::open(&arguments.config)?;
    let mut key = None;
    let to = if let Some(url) = &arguments.webhook {
        let made = SigningKey::generate(clock::millis())?;
        key = Some(made.reveal_secret().to_owned());
        let (url, headers, keys) = (url.clone(), BTreeMap::new(), vec![made]);
        RawChannel::Webhook(RawWebhook { url, headers, keys })
    } else if let Some(name) = &arguments.command {
        RawChannel::Command(RawCommand { name: name.clone() })
    } else {
        RawChannel::Email(RawEmail { to: arguments.mail.clone(), from: None })
    };
    let mut raw = RawTarget::new(to);
    arguments.given.settle(&mut raw)?;
    let target = Target::try_from(raw)?;
    if arguments.after.is_some_and(|after| after < 0) {
        return Err(Failure::new("a cursor is 0 or more"));
    }
    let edit = DestinationEdit::Make {
        name: arguments.name.clone(),
        settings: target.to_json(),
        after: arguments.after,
    };
    home.editor()?.destination(edit)?;
    note(&format!("{} is told from now on: {}", arguments.name, target.redacted_address()));
    warn(&home, &target);
    reveal(key)
}

/// What keeps it from being told, if something does.
fn warn(home: &Home, target: &Target) {
    if let Err(trouble) =
        Sender::new(NotifySettings::from_config(&home.config)).check_configured(target)
    {
        note(&format!("not yet: {trouble}"));
    }
}

/// Shows a secret, once.
fn reveal(key: Option<String>) -> Result<ExitCode, Failure> {
    if let Some(key) = key {
        note("the secret to check signatures with; it is not shown again:");
        print_line(&key)?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn set(arguments: &SetArguments) -> Result<ExitCode, Failure> {
    let SetArguments { webhook, mail, command, given, .. } = arguments;
    if webhook.is_none() && mail.is_empty() && command.is_none() && given.is_empty() {
        return Err(Failure::new("nothing is said of it")
            .hint("say something, such as --digest 1h; `freshet notify set --help` lists what"));
    }
    let (home, row) = open(&arguments.config, &arguments.name)?;
    let mut said = Ok(());
    let target = Target::parse(&row.settings)?.modify(|raw| {
        let other = |kind| Failure::new(format!("{} is no {kind}", arguments.name));
        match (&mut raw.to, webhook, mail.as_slice(), command) {
            (_, None, [], None) => {}
            (RawChannel::Webhook(hook), Some(url), [], None) => hook.url.clone_from(url),
            (RawChannel::Email(email), None, to @ [_, ..], None) => email.to = to.to_vec(),
            (RawChannel::Command(it), None, [], Some(name)) => it.name.clone_from(name),
            (_, Some(_), ..) => said = Err(other("webhook")),
            (_, _, [_, ..], _) => said = Err(other("mail")),
            _ => said = Err(other("command")),
        }
        if said.is_ok() {
            said = given.settle(raw);
        }
    });
    said?;
    let target = target?;
    let (id, settings, before) = (row.id, target.to_json(), row.settings);
    home.editor()?.destination(DestinationEdit::Change { id, settings, before })?;
    note(&format!("changed {}", arguments.name));
    warn(&home, &target);
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn pause(arguments: &NameArguments, paused: bool) -> Result<ExitCode, Failure> {
    let (home, row) = open(&arguments.config, &arguments.name)?;
    home.editor()?.destination(DestinationEdit::Pause { id: row.id, paused })?;
    let what = if paused { "is told nothing for now" } else { "is told again" };
    note(&format!("{} {what}", row.name));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn rm(arguments: &NameArguments) -> Result<ExitCode, Failure> {
    let (home, row) = open(&arguments.config, &arguments.name)?;
    home.editor()?.destination(DestinationEdit::Remove { id: row.id })?;
    note(&format!("removed {}", row.name));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn rotate(arguments: &RotateArguments) -> Result<ExitCode, Failure> {
    let grace = match arguments.grace.as_str() {
        "0" | "0s" => Duration::ZERO,
        text => freshet_fetch::time(text).ok_or_else(|| {
            Failure::new(format!("`{text}` is not a time such as 24h")).at("--grace")
        })?,
    };
    let (home, row) = open(&arguments.config, &arguments.name)?;
    let mut target = Target::parse(&row.settings)?;
    let Some(key) = target.rotate_key(clock::millis(), grace)? else {
        return Err(Failure::new(format!("{} is no webhook, and has no secret", row.name)));
    };
    let (id, settings, before) = (row.id, target.to_json(), row.settings);
    home.editor()?.destination(DestinationEdit::Rekey { id, settings, before })?;
    note(&format!("{} has a new secret; the old one is good for {}", row.name, arguments.grace));
    reveal(Some(key.reveal_secret().to_owned()))
}
