//! Secrets and their redaction.

use std::fmt;

/// Password or token. `Debug` does not show it, and there is no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the secret, to be sent.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Redacts text for display: a user name and password may precede an `@`.
pub(crate) fn redact_userinfo(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, rest)) => format!("…@{rest}"),
        None => text.to_owned(),
    }
}

/// Encodes as Base64 with padding (RFC 4648 §4), for Basic authentication.
pub(crate) fn encode_base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte))
            << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            if digit <= chunk.len() {
                text.push(char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize]));
            } else {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_does_not_show_a_secret() {
        assert_eq!(format!("{:?}", Some(Secret::new("hunter2"))), "Some(Secret(…))");
    }

    #[test]
    fn text_before_an_at_sign_is_redacted() {
        for (text, expect) in [
            ("http://example.com/", "http://example.com/"),
            ("http://me:hunter2@example.com/", "…@example.com/"),
            ("me:hunter2/@hunter2@example.com", "…@example.com"),
            ("hunter2@", "…@"),
        ] {
            assert_eq!(redact_userinfo(text), expect);
        }
    }

    #[test]
    fn base64_matches_rfc_4648_section_10() {
        let cases =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (text, expect) in cases {
            assert_eq!(encode_base64(text.as_bytes()), expect);
        }
    }
}
