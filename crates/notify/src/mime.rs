//! A mail as bytes (RFC 5322, RFC 2045, RFC 2047): plain text, and nothing in a header that could end it.

use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lettre::Address;

use crate::template::line;

/// Bytes of a text in one encoded word: with what frames it and `Subject: `, no more than 76 on a line
/// (RFC 2047 §2).
const WORD: usize = 39;
/// The longest header that is written as it is, and the longest line of a body.
const SHORT: usize = 60;
const LONGEST: usize = 900;

/// A mail address, perhaps with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mailbox {
    pub(crate) name: Option<String>,
    pub(crate) address: Address,
}

impl Mailbox {
    /// `me@example.com` or `Me <me@example.com>`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let refuse = || {
            let shown: String = text.chars().filter(|it| !it.is_control()).take(80).collect();
            format!("`{shown}` is not a mail address")
        };
        if text.contains(char::is_control) || text.len() > 320 {
            return Err(refuse());
        }
        let (name, address) = match text.trim().strip_suffix('>').and_then(|it| it.rsplit_once('<'))
        {
            Some((name, address)) => (unquoted(name.trim()), address),
            None => ("", text.trim()),
        };
        // Others would have to be asked for by servers that know of them (RFC 6531).
        let address: Address = Some(address)
            .filter(|it| it.is_ascii())
            .and_then(|it| it.parse().ok())
            .ok_or_else(refuse)?;
        let name = (!name.is_empty()).then(|| name.to_owned());
        Ok(Self { name, address })
    }

    fn written(&self) -> String {
        match &self.name {
            None => self.address.to_string(),
            Some(name) if is_plain(name) => {
                let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
                format!("\"{quoted}\" <{}>", self.address)
            }
            Some(name) => format!("{}\r\n <{}>", encoded(name), self.address),
        }
    }
}

/// What a mail says.
pub(crate) struct Mail<'a> {
    pub(crate) from: &'a Mailbox,
    pub(crate) to: &'a [Mailbox],
    /// The name of it that no other mail has, without brackets.
    pub(crate) id: &'a str,
    /// When it is written, in milliseconds since 1970.
    pub(crate) at: i64,
    pub(crate) subject: &'a str,
    pub(crate) text: &'a str,
}

impl Mail<'_> {
    /// As it is sent.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let to: Vec<String> = self.to.iter().map(Mailbox::written).collect();
        let since = Duration::from_millis(u64::try_from(self.at).unwrap_or_default());
        let date = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + since);
        let text = self.text.replace("\r\n", "\n");
        let is_plain = text.is_ascii() && text.lines().all(|line| line.len() <= LONGEST);
        let (coding, body) = match is_plain {
            true => ("7bit", text.replace('\n', "\r\n")),
            false => ("base64", folded(&text.replace('\n', "\r\n"))),
        };
        let head = [
            format!("From: {}", self.from.written()),
            format!("To: {}", to.join(",\r\n ")),
            format!("Subject: {}", header(self.subject)),
            format!("Date: {}", date.replace("GMT", "+0000")),
            format!("Message-ID: <{}@{}>", self.id, self.from.address.domain()),
            // RFC 3834 §5.1: nobody's holiday answers this.
            "Auto-Submitted: auto-generated".to_owned(),
            "X-Auto-Response-Suppress: All".to_owned(),
            "MIME-Version: 1.0".to_owned(),
            "Content-Type: text/plain; charset=utf-8".to_owned(),
            format!("Content-Transfer-Encoding: {coding}"),
        ];
        let end = if body.ends_with("\r\n") { "" } else { "\r\n" };
        format!("{}\r\n\r\n{body}{end}", head.join("\r\n")).into_bytes()
    }
}

/// A name without the quotation marks around it.
fn unquoted(name: &str) -> &str {
    name.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(name).trim()
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|it| it == b' ' || it.is_ascii_graphic())
        && text.len() <= SHORT
        && !text.contains("=?")
}

/// A text as it may stand in a header.
fn header(text: &str) -> String {
    let text = line(text);
    if is_plain(&text) { text } else { encoded(&text) }
}

/// Encoded words, each on a line of its own.
fn encoded(text: &str) -> String {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = rest.len().min(WORD);
        // A letter is not cut in two.
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        words.push(format!("=?utf-8?B?{}?=", STANDARD.encode(&rest[..end])));
        rest = &rest[end..];
    }
    words.join("\r\n ")
}

/// Base64 in lines of 76 (RFC 2045 §6.8).
fn folded(text: &str) -> String {
    let whole = STANDARD.encode(text);
    let lines = whole.as_bytes().chunks(76).map(|it| String::from_utf8_lossy(it).into_owned());
    lines.collect::<Vec<_>>().join("\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        let written = Mailbox::parse(text).ok().map(|it| it.written());
        assert_eq!(written.as_deref(), expect, "{text}");
    }

    #[test]
    fn addresses_are_read_and_written() {
        check("me@example.com", Some("me@example.com"));
        check("Me <me@example.com>", Some("\"Me\" <me@example.com>"));
        check("\"A \\ \"B\"\" <me@example.com>", Some("\"A \\\\ \\\"B\\\"\" <me@example.com>"));
        check("Zoë <z@example.com>", Some("=?utf-8?B?Wm/Dqw==?=\r\n <z@example.com>"));
        for bad in
            ["", "me", "me@", "@x", "a@b c", "a@b, c@d", "me@example.com\r\nBcc: x@y", "ä@b.de"]
        {
            check(bad, None);
        }
    }

    #[test]
    fn a_mail_has_short_lines_and_its_own_headers_only() {
        let from = Mailbox::parse("f@example.com").unwrap();
        let subject = format!("x\r\nBcc: evil@example.com {}", "ü".repeat(100));
        let text = format!("{}\n.\nend", "y".repeat(5000));
        let to = [from.clone()];
        let mail = Mail {
            from: &from,
            to: &to,
            id: "msg_1",
            at: 784_111_777_000,
            subject: &subject,
            text: &text,
        };
        let bytes = String::from_utf8(mail.bytes()).unwrap();
        assert!(bytes.split("\r\n").all(|line| line.len() <= 76), "{bytes}");
        assert!(bytes.is_ascii() && !bytes.replace("\r\n", "").contains(['\r', '\n']));
        let (head, body) = bytes.split_once("\r\n\r\n").unwrap();
        assert!(!head.to_lowercase().contains("\r\nbcc"), "{head}");
        // RFC 5322 §3.3; the moment is that of RFC 9110 §5.6.7.
        assert!(head.contains("\r\nDate: Sun, 06 Nov 1994 08:49:37 +0000\r\n"), "{head}");
        let decoded = STANDARD.decode(body.replace("\r\n", "")).unwrap();
        assert_eq!(String::from_utf8(decoded).unwrap(), text.replace('\n', "\r\n"));
    }
}
