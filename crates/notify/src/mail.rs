//! Mail, through the one server that the owner's configuration names.

use std::time::Duration;

use freshet_daemon::{Mail, MailTls};
use lettre::address::Envelope as SmtpEnvelope;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use tokio::time::timeout;

use crate::entry::Entry;
use crate::mime::{self, Mailbox};
use crate::payload::Payload;
use crate::sender::{DeliveryError, Envelope, FailureKind, Receipt, Sender};
use crate::target::{RawEmail, Target};
use crate::template::{cut, line, lines};

/// For one answer of the server, and for all.
const EACH: Duration = Duration::from_secs(20);
const LIMIT: Duration = Duration::from_secs(60);
/// The longest subject, in characters.
const SUBJECT: usize = 200;
/// Entries whose text is written out in one mail.
const WRITTEN: usize = 200;

pub(crate) fn no_server() -> DeliveryError {
    let what = "no mail server is named: say [mail] server and from in the configuration";
    DeliveryError::new(what, FailureKind::Transient)
}

pub(crate) async fn send(
    sender: &Sender,
    target: &Target,
    email: &RawEmail,
    parcel: &Envelope<'_>,
) -> Result<Receipt, DeliveryError> {
    let server = sender.mail.as_ref().ok_or_else(no_server)?;
    let (envelope, message) = message(server, target, email, parcel).map_err(|why| {
        DeliveryError::new(format!("cannot be written as mail: {why}"), FailureKind::Permanent)
    })?;
    let roots = sender.fetcher.settings().roots();
    let transport = transport(server, roots).map_err(|why| {
        DeliveryError::new(format!("no secure connection: {why}"), FailureKind::Transient)
    })?;
    let name = format!("{}:{}", server.server, server.port);
    let sent = timeout(LIMIT, transport.send_raw(&envelope, &message)).await;
    let sent = sent.map_err(|_| {
        DeliveryError::new(
            format!("{name} took longer than {} s", LIMIT.as_secs()),
            FailureKind::Transient,
        )
    })?;
    match sent {
        Ok(answer) => Ok(Receipt {
            kind: target.kind(),
            to: target.redacted_address(),
            id: parcel.id.to_owned(),
            sent: "a mail".to_owned(),
            answer: cut(&line(&answer.message().collect::<Vec<_>>().join(" ")), 300),
        }),
        Err(error) => {
            let fault =
                if error.is_permanent() { FailureKind::Permanent } else { FailureKind::Transient };
            Err(DeliveryError::new(cut(&line(&said(&name, &error)), 300), fault))
        }
    }
}

/// What went wrong on the way, as it may be shown: an answer of the server in its own words.
fn said(name: &str, error: &lettre::transport::smtp::Error) -> String {
    let mut text = format!("{name}: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = inner.source();
    }
    text
}

fn transport<'a>(
    server: &Mail,
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
        .timeout(Some(EACH));
    if let Some((user, password)) = &server.sign_in {
        let secret = password.reveal().to_owned();
        builder = builder.credentials(Credentials::new(user.clone(), secret));
    }
    Ok(builder.build())
}

fn message(
    server: &Mail,
    target: &Target,
    email: &RawEmail,
    parcel: &Envelope<'_>,
) -> Result<(SmtpEnvelope, Vec<u8>), String> {
    let from = Mailbox::parse(email.from.as_deref().unwrap_or(&server.from))?;
    let to: Vec<Mailbox> =
        email.to.iter().map(|it| Mailbox::parse(it)).collect::<Result<_, _>>()?;
    let addresses = to.iter().map(|it| it.address.clone()).collect();
    let envelope = SmtpEnvelope::new(Some(from.address.clone()), addresses);
    let (subject, text) = (subject(target, parcel.payload), text(target, parcel.payload, WRITTEN));
    // Its name is the same for the same delivery: who has it already can tell.
    let mail = mime::Mail {
        from: &from,
        to: &to,
        id: parcel.id,
        at: parcel.now,
        subject: &subject,
        text: &text,
    };
    Ok((envelope.map_err(|why| why.to_string())?, mail.bytes()))
}

fn subject(target: &Target, letter: &Payload) -> String {
    let Some(first) = letter.entries.first() else {
        return "some changes could not be told".to_owned();
    };
    let text = match &target.subject {
        Some(template) => template.line(first),
        None => line(&format!("{}: {}", first.url, what(first))),
    };
    let more = letter.entries.len() - 1;
    let test = if letter.test { "test: " } else { "" };
    match more {
        0 => format!("{test}{}", cut(&text, SUBJECT)),
        _ => format!("{} (and {more} more)", cut(&text, SUBJECT)),
    }
}

/// What a mail says, or what a command reads: each entry by the template, or in our own words.
pub(crate) fn text(target: &Target, letter: &Payload, most: usize) -> String {
    let mut texts = Vec::new();
    if let Some(gap) = letter.gap {
        texts.push(format!("Entries {} to {} are not kept any more.\n", gap.from, gap.to));
    }
    for entry in letter.entries.iter().take(most) {
        texts.push(match &target.text {
            Some(template) => template.text(entry),
            None => own(entry),
        });
    }
    if let Some(more) = letter.entries.len().checked_sub(most).filter(|&more| more > 0) {
        texts.push(format!("and {more} more: `freshet changes` shows them\n"));
    }
    texts.join("\n")
}

fn what(entry: &Entry) -> &str {
    if entry.summary.is_empty() { entry.kind.name() } else { &entry.summary }
}

fn own(it: &Entry) -> String {
    let mut text = format!("{}\n{}: {}\n", line(&it.url), it.kind.name(), lines(what(it)));
    if let Some(since) = &it.last_unchanged {
        text.push_str(&format!("between {since} and {}\n", it.first_changed));
    }
    if !it.tags.is_empty() {
        text.push_str(&format!("tags: {}\n", line(&it.tags.join(", "))));
    }
    text
}
