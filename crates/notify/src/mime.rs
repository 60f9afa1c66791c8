//! Mail messages (RFC 5322, RFC 2045, RFC 2047): plain text, with headers that cannot be injected.

use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lettre::Address;

use crate::template::to_line;

/// Bytes of text per encoded word: with its delimiters and `Subject: ` at most 76 characters on a line (RFC 2047 §2).
const ENCODED_WORD_BYTES: usize = 39;
/// Maximum length of a header value that is not encoded.
const MAX_PLAIN_HEADER_LEN: usize = 60;
/// Maximum length of a line in a body that is not encoded.
const MAX_PLAIN_LINE_LEN: usize = 900;

/// Mail address with an optional name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mailbox {
    pub(crate) name: Option<String>,
    pub(crate) address: Address,
}

impl Mailbox {
    /// Parses `me@example.com` or `Me <me@example.com>`.
    ///
    /// # Errors
    /// Returns a message if the text is no mail address.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let invalid = || {
            let shown: String = text.chars().filter(|it| !it.is_control()).take(80).collect();
            format!("`{shown}` is not a mail address")
        };
        if text.contains(char::is_control) || text.len() > 320 {
            return Err(invalid());
        }
        let (name, address) = match text.trim().strip_suffix('>').and_then(|it| it.rsplit_once('<'))
        {
            Some((name, address)) => (unquote(name.trim()), address),
            None => ("", text.trim()),
        };
        // Other addresses require servers with SMTPUTF8 (RFC 6531).
        let address: Address = Some(address)
            .filter(|it| it.is_ascii())
            .and_then(|it| it.parse().ok())
            .ok_or_else(invalid)?;
        let name = (!name.is_empty()).then(|| name.to_owned());
        Ok(Self { name, address })
    }

    fn to_header(&self) -> String {
        match &self.name {
            None => self.address.to_string(),
            Some(name) if is_plain(name) => {
                let quoted = name.replace('\\', "\\\\").replace('"', "\\\"");
                format!("\"{quoted}\" <{}>", self.address)
            }
            Some(name) => format!("{}\r\n <{}>", encode_words(name), self.address),
        }
    }
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
    /// Formats the message for SMTP.
    pub(crate) fn format(&self) -> Vec<u8> {
        let to: Vec<String> = self.to.iter().map(Mailbox::to_header).collect();
        let since_epoch = Duration::from_millis(u64::try_from(self.at).unwrap_or_default());
        let date = httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + since_epoch);
        let text = self.text.replace("\r\n", "\n");
        let is_plain = text.is_ascii() && text.lines().all(|line| line.len() <= MAX_PLAIN_LINE_LEN);
        let (encoding, body) = match is_plain {
            true => ("7bit", text.replace('\n', "\r\n")),
            false => ("base64", fold_base64(&text.replace('\n', "\r\n"))),
        };
        let head = [
            format!("From: {}", self.from.to_header()),
            format!("To: {}", to.join(",\r\n ")),
            format!("Subject: {}", format_header(self.subject)),
            format!("Date: {}", date.replace("GMT", "+0000")),
            format!("Message-ID: <{}@{}>", self.id, self.from.address.domain()),
            // RFC 3834 §5.1: suppresses automatic replies.
            "Auto-Submitted: auto-generated".to_owned(),
            "X-Auto-Response-Suppress: All".to_owned(),
            "MIME-Version: 1.0".to_owned(),
            "Content-Type: text/plain; charset=utf-8".to_owned(),
            format!("Content-Transfer-Encoding: {encoding}"),
        ];
        let end = if body.ends_with("\r\n") { "" } else { "\r\n" };
        format!("{}\r\n\r\n{body}{end}", head.join("\r\n")).into_bytes()
    }
}

/// Removes the quotation marks around a name.
fn unquote(name: &str) -> &str {
    name.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(name).trim()
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|it| it == b' ' || it.is_ascii_graphic())
        && text.len() <= MAX_PLAIN_HEADER_LEN
        && !text.contains("=?")
}

/// Formats a text as the value of a header.
fn format_header(text: &str) -> String {
    let text = to_line(text);
    if is_plain(&text) { text } else { encode_words(&text) }
}

/// Formats a text as encoded words, one per line.
fn encode_words(text: &str) -> String {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = rest.len().min(ENCODED_WORD_BYTES);
        // Characters are not split.
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        words.push(format!("=?utf-8?B?{}?=", STANDARD.encode(&rest[..end])));
        rest = &rest[end..];
    }
    words.join("\r\n ")
}

/// Encodes a text as base64 in lines of 76 characters (RFC 2045 §6.8).
fn fold_base64(text: &str) -> String {
    let encoded = STANDARD.encode(text);
    let lines = encoded.as_bytes().chunks(76).map(|it| String::from_utf8_lossy(it).into_owned());
    lines.collect::<Vec<_>>().join("\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Option<&str>) {
        let header = Mailbox::parse(text).ok().map(|it| it.to_header());
        assert_eq!(header.as_deref(), expect, "{text}");
    }

    #[test]
    fn addresses_are_parsed_and_formatted() {
        check("me@example.com", Some("me@example.com"));
        check("Me <me@example.com>", Some("\"Me\" <me@example.com>"));
        check("\"A \\ \"B\"\" <me@example.com>", Some("\"A \\\\ \\\"B\\\"\" <me@example.com>"));
        check("Zoë <z@example.com>", Some("=?utf-8?B?Wm/Dqw==?=\r\n <z@example.com>"));
        for invalid in
            ["", "me", "me@", "@x", "a@b c", "a@b, c@d", "me@example.com\r\nBcc: x@y", "ä@b.de"]
        {
            check(invalid, None);
        }
    }

    #[test]
    fn a_mail_has_short_lines_and_no_injected_headers() {
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
        let bytes = String::from_utf8(mail.format()).unwrap();
        assert!(bytes.split("\r\n").all(|line| line.len() <= 76), "{bytes}");
        assert!(bytes.is_ascii() && !bytes.replace("\r\n", "").contains(['\r', '\n']));
        let (head, body) = bytes.split_once("\r\n\r\n").unwrap();
        assert!(!head.to_lowercase().contains("\r\nbcc"), "{head}");
        // RFC 5322 §3.3; the time is the example of RFC 9110 §5.6.7.
        assert!(head.contains("\r\nDate: Sun, 06 Nov 1994 08:49:37 +0000\r\n"), "{head}");
        let decoded = STANDARD.decode(body.replace("\r\n", "")).unwrap();
        assert_eq!(String::from_utf8(decoded).unwrap(), text.replace('\n', "\r\n"));
    }
}
