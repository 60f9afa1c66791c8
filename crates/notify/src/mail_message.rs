//! Mail messages (RFC 5322): plain text with one part.

use std::time::{Duration, SystemTime};

use lettre::message::header::{
    Date, From, HeaderName, HeaderValue, Headers, MIME_VERSION_1_0, MessageId, Subject, To,
};
use lettre::message::{Mailbox, Mailboxes, SinglePart};
use lettre::{Address, address};

use crate::template::to_line;

/// Maximum length of an address with its name, in bytes.
const MAX_MAILBOX_LEN: usize = 320;

/// Parses `me@example.com` or `Me <me@example.com>`.
///
/// # Errors
/// Returns a message if the text is no mail address.
pub(crate) fn parse_mailbox(text: &str) -> Result<Mailbox, String> {
    let invalid = || {
        let shown: String = text.chars().filter(|it| !it.is_control()).take(80).collect();
        format!("`{shown}` is not a mail address")
    };
    if text.contains(char::is_control) || text.len() > MAX_MAILBOX_LEN {
        return Err(invalid());
    }
    let (name, address) = match text.trim().strip_suffix('>').and_then(|it| it.rsplit_once('<')) {
        Some((name, address)) => (unquote(name.trim()), address),
        None => ("", text.trim()),
    };
    // Other addresses require servers with SMTPUTF8 (RFC 6531).
    let address: Option<Address> =
        Some(address).filter(|it| it.is_ascii()).and_then(|it| it.parse().ok());
    let name = (!name.is_empty()).then(|| name.to_owned());
    Ok(Mailbox::new(name, address.ok_or_else(invalid)?))
}

/// Removes the quotation marks around a name.
fn unquote(name: &str) -> &str {
    name.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(name).trim()
}

/// Content of a mail.
pub(crate) struct Mail<'a> {
    pub(crate) from: &'a Mailbox,
    pub(crate) to: &'a [Mailbox],
    /// Unique id: the local part of the Message-ID.
    pub(crate) id: &'a str,
    /// Time in milliseconds since 1970.
    pub(crate) at: i64,
    pub(crate) subject: &'a str,
    pub(crate) text: &'a str,
}

impl Mail<'_> {
    /// Returns the SMTP envelope: sender and recipients.
    pub(crate) fn envelope(&self) -> Result<address::Envelope, lettre::error::Error> {
        let recipients = self.to.iter().map(|it| it.email.clone()).collect();
        address::Envelope::new(Some(self.from.email.clone()), recipients)
    }

    /// Formats the message for SMTP.
    ///
    /// A part with the headers of a message, and no `Message`: that would parse the addresses again, with a stricter
    /// grammar than `Address` has.
    pub(crate) fn format(&self) -> Vec<u8> {
        let since_epoch = Duration::from_millis(u64::try_from(self.at).unwrap_or_default());
        let mailboxes = |some: &[Mailbox]| Mailboxes::from(some.to_vec());
        let mut headers = Headers::new();
        headers.set(From::from(mailboxes(std::slice::from_ref(self.from))));
        headers.set(To::from(mailboxes(self.to)));
        headers.set(Subject::from(escape_encoded_words(&to_line(self.subject))));
        headers.set(Date::new(SystemTime::UNIX_EPOCH + since_epoch));
        headers.set(MessageId::from(format!("<{}@{}>", self.id, self.from.email.domain())));
        // RFC 3834 §5.1: suppresses automatic replies.
        for (name, value) in
            [("Auto-Submitted", "auto-generated"), ("X-Auto-Response-Suppress", "All")]
        {
            headers.insert_raw(HeaderValue::new(
                HeaderName::new_from_ascii_str(name),
                value.to_owned(),
            ));
        }
        headers.set(MIME_VERSION_1_0);
        let part = SinglePart::plain(self.text.replace("\r\n", "\n"));
        let mut message = headers.to_string().into_bytes();
        message.extend(part.formatted());
        message
    }
}

/// Keeps mail clients from decoding `=?…?=` in a text that is no encoded word (RFC 2047): a zero-width space after `=`
/// makes lettre encode the text itself.
fn escape_encoded_words(text: &str) -> String {
    match text.contains("?=") {
        true => text.replace("=?", "=\u{200b}?"),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats a mail to one recipient.
    fn format(to: Mailbox, subject: &str, text: &str) -> String {
        let from = parse_mailbox("f@example.com").unwrap();
        let mail = Mail { from: &from, to: &[to], id: "msg_1", at: 784_111_777_000, subject, text };
        mail.envelope().unwrap();
        String::from_utf8(mail.format()).unwrap()
    }

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        let message = parse_mailbox(text).ok().map(|it| format(it, "x", "x"));
        let header = message
            .as_ref()
            .and_then(|it| it.split("\r\nTo: ").nth(1)?.split("\r\nSubject: ").next());
        assert_eq!(header, expect, "{text}");
    }

    #[test]
    fn addresses_are_parsed_and_formatted() {
        check("me@example.com", Some("me@example.com"));
        check("Me <me@example.com>", Some("Me <me@example.com>"));
        check("A, B <me@[127.0.0.1]>", Some("=?utf-8?b?QSwgQg==?= <me@[127.0.0.1]>"));
        check("\"A \\ \"B\"\" <me@example.com>", Some("\"A \\\\ \\\"B\\\"\" <me@example.com>"));
        check("Zoë <z@example.com>", Some("=?utf-8?b?Wm/Dqw==?= <z@example.com>"));
        for invalid in
            ["", "me", "me@", "@x", "a@b c", "a@b, c@d", "me@example.com\r\nBcc: x@y", "ä@b.de"]
        {
            check(invalid, None);
        }
    }

    #[test]
    fn a_mail_has_short_lines_and_no_injected_headers() {
        let subject = format!("x\r\nBcc: evil@example.com {}", "ü".repeat(100));
        let to = parse_mailbox("t@example.com").unwrap();
        let message = format(to, &subject, &format!("{}\n.\nend", "y".repeat(5000)));
        assert!(message.split("\r\n").all(|line| line.len() <= 76), "{message}");
        assert!(message.is_ascii() && !message.replace("\r\n", "").contains(['\r', '\n']));
        let (head, body) = message.split_once("\r\n\r\n").unwrap();
        assert!(!head.to_lowercase().contains("\r\nbcc"), "{head}");
        // RFC 5322 §3.3; the time is the example of RFC 9110 §5.6.7.
        assert!(head.contains("\r\nDate: Sun, 06 Nov 1994 08:49:37 +0000\r\n"), "{head}");
        assert!(head.contains("\r\nMessage-ID: <msg_1@example.com>\r\n"), "{head}");
        assert!(head.contains("\r\nContent-Transfer-Encoding: quoted-printable"), "{head}");
        assert_eq!(body.replace("=\r\n", ""), format!("{}\r\n.\r\nend\r\n", "y".repeat(5000)));
    }

    #[test]
    fn a_subject_is_not_decoded_twice() {
        let to = parse_mailbox("t@example.com").unwrap();
        let message = format(to, "=?utf-8?b?4oCu?= x", "x");
        assert!(!message.contains("=?utf-8?b?4oCu?="), "{message}");
    }
}
