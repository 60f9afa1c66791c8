//! `[notify]`, `[mail]`, `[watch]` and `[commands]`: notification settings.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use freshet_fetch::{Secret, SecretSource, parse_duration};
use freshet_store::AlertThresholds;
use serde::Deserialize;

use super::validate::parse_duration_days;

/// Notification settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifyConfig {
    /// Attempts before a delivery is given up.
    pub max_attempts: u32,
    /// Delay after the first failed attempt; it doubles with each further failure.
    pub first_retry_delay: Duration,
    /// Time limit of a command.
    pub command_timeout: Duration,
    /// Mail server, if configured.
    pub mail: Option<MailConfig>,
    /// Programs that notifications may run, by name: absolute path and arguments.
    pub commands: BTreeMap<String, Vec<String>>,
}

/// Mail server and sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailConfig {
    /// Host name or address.
    pub server: String,
    /// Port.
    pub port: u16,
    /// Connection security.
    pub tls: MailTls,
    /// User name and password, if the server needs them.
    pub credentials: Option<(String, Secret)>,
    /// Sender address.
    pub from: String,
}

/// Security of the connection to a mail server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailTls {
    /// TLS from the first byte.
    Implicit,
    /// STARTTLS, required: without it nothing is sent.
    StartTls,
    /// No encryption.
    None,
}

/// A longer delay or timeout is taken for a mistake.
const MAX_WAIT: Duration = Duration::from_secs(86_400);

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawWatch {
    failures: Option<u32>,
    quiet: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawNotify {
    attempts: Option<u32>,
    wait: Option<String>,
    limit: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMail {
    server: String,
    port: Option<u16>,
    tls: Option<String>,
    user: Option<String>,
    password: Option<SecretSource>,
    from: String,
}

impl NotifyConfig {
    /// With the default delay, 16 attempts take about a day.
    const DEFAULT_MAX_ATTEMPTS: u32 = 16;
    const DEFAULT_FIRST_RETRY_DELAY: Duration = Duration::from_secs(15);
    const DEFAULT_COMMAND_TIMEOUT: Duration = Duration::from_secs(60);
}

pub(super) fn validate_alerts(raw: &RawWatch) -> Result<AlertThresholds, String> {
    let failures = raw.failures.unwrap_or(0);
    let Some(text) = raw.quiet.as_deref() else {
        return Ok(AlertThresholds { failures_in_a_row: failures, quiet_ms: 0 });
    };
    let short = text.trim().trim_end_matches("ays").trim_end_matches("ay");
    let quiet = parse_duration_days(short)
        .map(crate::clock::millis_from_days)
        .filter(|&it| it > 0)
        .ok_or_else(|| format!("watch.quiet: `{text}` is not a duration, such as \"30 days\""))?;
    Ok(AlertThresholds { failures_in_a_row: failures, quiet_ms: quiet })
}

/// Validates the notification settings. The second value is the reason why the mail password could
/// not be read, if it could not.
pub(super) fn validate_notify(
    raw: RawNotify,
    mail: Option<RawMail>,
    commands: BTreeMap<String, Vec<String>>,
) -> Result<(NotifyConfig, Option<String>), String> {
    let attempts = raw.attempts.unwrap_or(NotifyConfig::DEFAULT_MAX_ATTEMPTS);
    if !(1..=1000).contains(&attempts) {
        return Err(format!("notify.attempts: `{attempts}` is not a number from 1 to 1000"));
    }
    let duration = |field: &str, text: &Option<String>, default: Duration| match text.as_deref() {
        None => Ok(default),
        Some(text) => parse_duration(text).filter(|it| *it <= MAX_WAIT).ok_or_else(|| {
            format!("notify.{field}: `{text}` is not a duration of at most a day, such as \"15s\"")
        }),
    };
    let wait = duration("wait", &raw.wait, NotifyConfig::DEFAULT_FIRST_RETRY_DELAY)?;
    let limit = duration("limit", &raw.limit, NotifyConfig::DEFAULT_COMMAND_TIMEOUT)?;
    for (name, command) in &commands {
        let plain = |it: u8| it.is_ascii_alphanumeric() || b"-_".contains(&it);
        if name.is_empty() || !name.bytes().all(plain) {
            return Err(format!(
                "commands.{name}: a name may only contain letters, digits, `-` and `_`"
            ));
        }
        // A program found through the search path may be another one tomorrow.
        if command.first().is_none_or(|it| !Path::new(it).is_absolute()) {
            return Err(format!(
                "commands.{name}: the program must be an absolute path, such as [\"/usr/local/bin/tell\"]"
            ));
        }
        if command.iter().any(|it| it.contains('\0')) {
            return Err(format!("commands.{name}: an argument contains a NUL byte"));
        }
    }
    let mut missing = None;
    let mail = mail.map(|mail| mail.validate(&mut missing)).transpose()?;
    Ok((
        NotifyConfig {
            max_attempts: attempts,
            first_retry_delay: wait,
            command_timeout: limit,
            mail,
            commands,
        },
        missing,
    ))
}

impl RawMail {
    fn validate(self, missing: &mut Option<String>) -> Result<MailConfig, String> {
        let (tls, default) = match self.tls.as_deref() {
            None | Some("implicit") => (MailTls::Implicit, 465),
            Some("starttls") => (MailTls::StartTls, 587),
            Some("none") => (MailTls::None, 25),
            Some(other) => {
                return Err(format!(
                    "mail.tls: `{other}` is not \"implicit\", \"starttls\" or \"none\""
                ));
            }
        };
        let invalid = |it: char| it.is_whitespace() || it.is_control() || "/@".contains(it);
        if self.server.is_empty() || self.server.contains(invalid) {
            return Err(format!("mail.server: `{}` is not a host name", self.server));
        }
        if !self.from.contains('@') || self.from.contains(char::is_control) {
            return Err(format!("mail.from: `{}` is not a mail address", self.from));
        }
        let sign_in = match (self.user, self.password) {
            (None, None) => None,
            (Some(user), Some(place)) => {
                let password = place.read("mail.password").unwrap_or_else(|error| {
                    *missing = Some(format!("mail.password: {}", error.fault));
                    Secret::new("")
                });
                Some((user, password))
            }
            (Some(_), None) => {
                let reason = "mail.user: requires a password, such as \
                    `password = { env = \"FRESHET_MAIL\" }`";
                return Err(reason.to_owned());
            }
            (None, Some(_)) => return Err("mail.password: requires `mail.user`".to_owned()),
        };
        let is_here = self.server == "localhost"
            || self.server.parse().is_ok_and(|address: IpAddr| address.is_loopback());
        if sign_in.is_some() && tls == MailTls::None && !is_here {
            let reason = "mail.tls: a password is only sent over TLS; set it to \
                \"implicit\" or \"starttls\"";
            return Err(reason.to_owned());
        }
        let port = self.port.unwrap_or(default);
        if port == 0 {
            return Err("mail.port: `0` is not a port from 1 to 65535".to_owned());
        }
        Ok(MailConfig { server: self.server, port, tls, credentials: sign_in, from: self.from })
    }
}
