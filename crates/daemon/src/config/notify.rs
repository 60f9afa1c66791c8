//! How those who want to know of changes are told, as an owner says it.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use freshet_fetch::{RawSecret, Secret, time};
use freshet_store::AlertThresholds;
use serde::Deserialize;

use super::check::days;

/// How those who want to know of changes are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notify {
    /// How often a delivery is tried before it is given up.
    pub attempts: u32,
    /// How long it waits after the first failure; twice as long after each more.
    pub wait: Duration,
    /// How long a command may take.
    pub limit: Duration,
    /// The mail server, if there is one.
    pub mail: Option<Mail>,
    /// Programs that may be told, by name: a whole path and arguments.
    pub commands: BTreeMap<String, Vec<String>>,
}

/// A mail server, and who writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// Its name or address.
    pub server: String,
    /// Its port.
    pub port: u16,
    /// How the way there is secured.
    pub tls: MailTls,
    /// Who signs in, and with what.
    pub sign_in: Option<(String, Secret)>,
    /// The address that mail comes from.
    pub from: String,
}

/// How the way to a mail server is secured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailTls {
    /// From the first byte on.
    Implicit,
    /// After a word in the open. Who does not offer that gets nothing.
    StartTls,
    /// Not at all.
    None,
}

/// A first wait, or a command, that is longer is a slip.
const LONGEST: Duration = Duration::from_secs(86_400);

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
    password: Option<RawSecret>,
    from: String,
}

impl Notify {
    /// Attempts and the first wait if nothing is said: about a day in all.
    const ATTEMPTS: u32 = 16;
    const WAIT: Duration = Duration::from_secs(15);
    const LIMIT: Duration = Duration::from_secs(60);
}

pub(super) fn watch(raw: &RawWatch) -> Result<AlertThresholds, String> {
    let failures = raw.failures.unwrap_or(0);
    let Some(text) = raw.quiet.as_deref() else {
        return Ok(AlertThresholds { failures, quiet_ms: 0 });
    };
    let short = text.trim().trim_end_matches("ays").trim_end_matches("ay");
    let quiet = days(short)
        .map(crate::clock::millis)
        .filter(|&it| it > 0)
        .ok_or_else(|| format!("watch.quiet: `{text}` is not a time such as \"30 days\""))?;
    Ok(AlertThresholds { failures, quiet_ms: quiet })
}

/// What is meant, and why the password of the mail server is not there, if it is not.
pub(super) fn check(
    raw: RawNotify,
    mail: Option<RawMail>,
    commands: BTreeMap<String, Vec<String>>,
) -> Result<(Notify, Option<String>), String> {
    let attempts = raw.attempts.unwrap_or(Notify::ATTEMPTS);
    if !(1..=1000).contains(&attempts) {
        return Err(format!("notify.attempts: {attempts} is not from 1 to 1000"));
    }
    let given = |field: &str, text: &Option<String>, usual: Duration| match text.as_deref() {
        None => Ok(usual),
        Some(text) => time(text)
            .filter(|it| *it <= LONGEST)
            .ok_or_else(|| format!("notify.{field}: `{text}` is not a time such as \"15s\"")),
    };
    let wait = given("wait", &raw.wait, Notify::WAIT)?;
    let limit = given("limit", &raw.limit, Notify::LIMIT)?;
    for (name, command) in &commands {
        let plain = |it: u8| it.is_ascii_alphanumeric() || b"-_".contains(&it);
        if name.is_empty() || !name.bytes().all(plain) {
            return Err(format!("commands.{name}: a name has letters, digits, - and _ only"));
        }
        // What a search path finds may be another program tomorrow.
        if command.first().is_none_or(|it| !Path::new(it).is_absolute()) {
            return Err(format!(
                "commands.{name}: the program must be a whole path: [\"/usr/local/bin/tell\"]"
            ));
        }
        if command.iter().any(|it| it.contains('\0')) {
            return Err(format!("commands.{name}: there is a zero byte in it"));
        }
    }
    let mut missing = None;
    let mail = mail.map(|mail| mail.check(&mut missing)).transpose()?;
    Ok((Notify { attempts, wait, limit, mail, commands }, missing))
}

impl RawMail {
    fn check(self, missing: &mut Option<String>) -> Result<Mail, String> {
        let (tls, usual) = match self.tls.as_deref() {
            None | Some("implicit") => (MailTls::Implicit, 465),
            Some("starttls") => (MailTls::StartTls, 587),
            Some("none") => (MailTls::None, 25),
            Some(other) => {
                return Err(format!(
                    "mail.tls: `{other}` is not \"implicit\", \"starttls\" or \"none\""
                ));
            }
        };
        let odd = |it: char| it.is_whitespace() || it.is_control() || "/@".contains(it);
        if self.server.is_empty() || self.server.contains(odd) {
            return Err(format!("mail.server: `{}` is not the name of a host", self.server));
        }
        if !self.from.contains('@') || self.from.contains(char::is_control) {
            return Err(format!("mail.from: `{}` is not a mail address", self.from));
        }
        let sign_in = match (self.user, self.password) {
            (None, None) => None,
            (Some(user), Some(place)) => {
                let password = place.read("mail.password").unwrap_or_else(|why| {
                    *missing = Some(format!("mail.password: {}", why.fault));
                    Secret::new("")
                });
                Some((user, password))
            }
            (Some(_), None) => {
                let what = "mail.user: a user needs a password: \
                    `password = { env = \"FRESHET_MAIL\" }`";
                return Err(what.to_owned());
            }
            (None, Some(_)) => return Err("mail.password: a password needs a user".to_owned()),
        };
        let is_here = self.server == "localhost"
            || self.server.parse().is_ok_and(|address: IpAddr| address.is_loopback());
        if sign_in.is_some() && tls == MailTls::None && !is_here {
            let what = "mail.tls: a password goes over a secure connection only: say \
                \"implicit\" or \"starttls\"";
            return Err(what.to_owned());
        }
        let port = self.port.unwrap_or(usual);
        if port == 0 {
            return Err("mail.port: 0 is no port".to_owned());
        }
        Ok(Mail { server: self.server, port, tls, sign_in, from: self.from })
    }
}
