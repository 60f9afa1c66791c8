//! Mail, sent through the configured SMTP server.

use std::time::Duration;

use freshet_daemon::{MailConfig, MailTls};
use lettre::address::Envelope as SmtpEnvelope;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use tokio::time::timeout;

use crate::entry::Entry;
use crate::mail_message::{Mail, parse_mailbox};
use crate::payload::Payload;
use crate::sender::{DeliveryError, Envelope, FailureKind, Receipt, Sender};
use crate::target::{RawEmail, Target};
use crate::template::{to_line, to_lines, truncate};

/// Time limit of one reply of the server.
const REPLY_TIMEOUT: Duration = Duration::from_secs(20);
/// Time limit of sending one mail.
const SEND_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum length of a subject, in characters.
const MAX_SUBJECT_CHARS: usize = 200;
/// Maximum number of entries whose text is in one mail.
const MAX_MAIL_ENTRIES: usize = 200;

pub(crate) fn no_server_error() -> DeliveryError {
    let message =
        "no mail server is configured: set `server` and `from` in [mail] of the configuration";
    DeliveryError::new(message, FailureKind::Transient)
}

pub(crate) async fn send(
    sender: &Sender,
    target: &Target,
    email: &RawEmail,
    envelope: &Envelope<'_>,
) -> Result<Receipt, DeliveryError> {
    let server = sender.mail.as_ref().ok_or_else(no_server_error)?;
    let (smtp_envelope, message) =
        build_message(server, target, email, envelope).map_err(|why| {
            DeliveryError::new(format!("cannot build the mail: {why}"), FailureKind::Permanent)
        })?;
    let roots = sender.fetcher.settings().extra_roots();
    let transport = transport(server, roots).map_err(|why| {
        DeliveryError::new(format!("cannot set up TLS: {why}"), FailureKind::Transient)
    })?;
    let name = format!("{}:{}", server.server, server.port);
    let sent = timeout(SEND_TIMEOUT, transport.send_raw(&smtp_envelope, &message)).await;
    let sent = sent.map_err(|_| {
        DeliveryError::new(
            format!("{name}: no reply within {} s", SEND_TIMEOUT.as_secs()),
            FailureKind::Transient,
        )
    })?;
    match sent {
        Ok(answer) => Ok(Receipt {
            kind: target.kind(),
            to: target.redacted_address(),
            id: envelope.id.to_owned(),
            sent: "a mail".to_owned(),
            answer: truncate(&to_line(&answer.message().collect::<Vec<_>>().join(" ")), 300),
        }),
        Err(error) => {
            let kind =
                if error.is_permanent() { FailureKind::Permanent } else { FailureKind::Transient };
            Err(DeliveryError::new(truncate(&to_line(&describe_error(&name, &error)), 300), kind))
        }
    }
}

/// Describes an SMTP error with its causes, including the reply of the server.
fn describe_error(name: &str, error: &lettre::transport::smtp::Error) -> String {
    let mut text = format!("{name}: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let cause_text = inner.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        cause = inner.source();
    }
    text
}

fn transport<'a>(
    server: &MailConfig,
    roots: impl Iterator<Item = &'a [u8]>,
) -> Result<AsyncSmtpTransport<Tokio1Executor>, lettre::transport::smtp::Error> {
    let parameters = || {
        let mut builder = TlsParameters::builder(server.server.clone());
        for root in roots {
            builder = builder.add_root_certificate(Certificate::from_der(root.to_vec())?);
        }
        builder.build_rustls()
    };
    let tls = match server.tls {
        MailTls::Implicit => Tls::Wrapper(parameters()?),
        MailTls::StartTls => Tls::Required(parameters()?),
        MailTls::None => Tls::None,
    };
    let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&server.server)
        .port(server.port)
        .tls(tls)
        .timeout(Some(REPLY_TIMEOUT));
    if let Some((user, password)) = &server.credentials {
        let secret = password.expose().to_owned();
        builder = builder.credentials(Credentials::new(user.clone(), secret));
    }
    Ok(builder.build())
}

fn build_message(
    server: &MailConfig,
    target: &Target,
    email: &RawEmail,
    envelope: &Envelope<'_>,
) -> Result<(SmtpEnvelope, Vec<u8>), String> {
    let from = parse_mailbox(email.from.as_deref().unwrap_or(&server.from))?;
    let to = email.to.iter().map(|it| parse_mailbox(it)).collect::<Result<Vec<_>, _>>()?;
    let (subject, text) =
        (subject(target, envelope.payload), text(target, envelope.payload, MAX_MAIL_ENTRIES));
    // A retry of the same delivery has the same Message-ID, so that receivers can detect duplicates.
    let mail = Mail {
        from: &from,
        to: &to,
        id: envelope.id,
        at: envelope.now,
        subject: &subject,
        text: &text,
    };
    Ok((mail.envelope().map_err(|error| error.to_string())?, mail.format()))
}

fn subject(target: &Target, payload: &Payload) -> String {
    let Some(first) = payload.entries.first() else {
        return "some changes could not be reported".to_owned();
    };
    let text = match &target.subject {
        Some(template) => template.expand_line(first),
        None => to_line(&format!("{}: {}", first.url, describe(first))),
    };
    let more = payload.entries.len() - 1;
    let test = if payload.test { "test: " } else { "" };
    match more {
        0 => format!("{test}{}", truncate(&text, MAX_SUBJECT_CHARS)),
        _ => format!("{} (and {more} more)", truncate(&text, MAX_SUBJECT_CHARS)),
    }
}

/// Returns the text of a mail, or of the standard input of a command: each entry in the format of the template, or of
/// the default one.
pub(crate) fn text(target: &Target, payload: &Payload, max_entries: usize) -> String {
    let mut texts = Vec::new();
    if let Some(gap) = payload.gap {
        texts.push(format!("Entries {} to {} are no longer stored.\n", gap.from, gap.to));
    }
    for entry in payload.entries.iter().take(max_entries) {
        texts.push(match &target.text {
            Some(template) => template.expand_text(entry),
            None => default_text(entry),
        });
    }
    if let Some(more) = payload.entries.len().checked_sub(max_entries).filter(|&more| more > 0) {
        texts.push(format!("and {more} more: `freshet changes` shows them\n"));
    }
    texts.join("\n")
}

fn describe(entry: &Entry) -> &str {
    if entry.summary.is_empty() { entry.kind.name() } else { &entry.summary }
}

fn default_text(it: &Entry) -> String {
    let mut text =
        format!("{}\n{}: {}\n", to_line(&it.url), it.kind.name(), to_lines(describe(it)));
    if let Some(since) = &it.last_unchanged {
        text.push_str(&format!("between {since} and {}\n", it.first_changed));
    }
    if !it.tags.is_empty() {
        text.push_str(&format!("tags: {}\n", to_line(&it.tags.join(", "))));
    }
    text
}
