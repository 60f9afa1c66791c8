//! Signatures of webhooks, by the convention of Standard Webhooks: HMAC-SHA256 over
//! `id.timestamp.body`.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use utoipa::ToSchema;

use crate::filter::InvalidSetting;

const PREFIX: &str = "whsec_";
/// Bytes of a key that is made here, and those that one may have.
const OWN: usize = 32;
const LENGTHS: std::ops::RangeInclusive<usize> = 24..=64;

/// A key to sign with, as it is kept.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SigningKey {
    /// `whsec_` and 24 to 64 bytes in base64.
    pub(crate) secret: String,
    /// When it was made, in milliseconds since 1970.
    pub(crate) made: i64,
    /// When it ends, if a newer one has come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<i64>,
}

/// There is no chance to be had from the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system has no random numbers to make a secret from")]
pub struct RandomSourceError;

impl SigningKey {
    /// A new one.
    ///
    /// # Errors
    /// If the system has no random numbers.
    pub fn generate(now: i64) -> Result<Self, RandomSourceError> {
        let mut bytes = [0; OWN];
        getrandom::fill(&mut bytes).map_err(|_| RandomSourceError)?;
        let secret = format!("{PREFIX}{}", STANDARD.encode(bytes));
        Ok(Self { secret, made: now, until: None })
    }

    /// One that somebody else has made.
    ///
    /// # Errors
    /// If it is none.
    pub fn from_secret(secret: &str, now: i64) -> Result<Self, InvalidSetting> {
        let key = Self { secret: secret.trim().to_owned(), made: now, until: None };
        key.bytes().map(|_| ())?;
        Ok(key)
    }

    /// What its owner needs to check signatures. To be shown once.
    #[must_use]
    pub fn reveal_secret(&self) -> &str {
        &self.secret
    }

    /// When it was made.
    #[must_use]
    pub fn made(&self) -> i64 {
        self.made
    }

    /// When it ends, if a newer one has come.
    #[must_use]
    pub fn until(&self) -> Option<i64> {
        self.until
    }

    pub(crate) fn bytes(&self) -> Result<Vec<u8>, InvalidSetting> {
        let refuse = |what: &str| InvalidSetting::new("secret", what);
        let text = self.secret.strip_prefix(PREFIX);
        let text = text.ok_or_else(|| refuse("a secret begins with `whsec_`"))?;
        let bytes = STANDARD.decode(text);
        let bytes = bytes.map_err(|_| refuse("what follows `whsec_` is not base64"))?;
        match LENGTHS.contains(&bytes.len()) {
            true => Ok(bytes),
            false => Err(refuse("a secret has 24 to 64 bytes")),
        }
    }

    fn sign(&self, id: &str, seconds: i64, body: &[u8]) -> Option<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.bytes().ok()?).ok()?;
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body);
        Some(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
    }
}

/// The header `webhook-signature`: a signature by each key that is good at this time.
pub(crate) fn signatures(keys: &[SigningKey], id: &str, now: i64, body: &[u8]) -> String {
    let good = keys.iter().filter(|key| key.until.is_none_or(|until| now < until));
    let signed = good.filter_map(|key| key.sign(id, now.div_euclid(1000), body));
    signed.collect::<Vec<_>>().join(" ")
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key(…, made {}, until {:?})", self.made, self.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_what_python_makes_of_it() {
        // base64.b64encode(hmac.new(b"0123456789abcdef01234567", b"msg_1.1700000000.{}",
        // hashlib.sha256).digest())
        let secret = format!("{PREFIX}{}", STANDARD.encode("0123456789abcdef01234567"));
        let key = SigningKey::from_secret(&secret, 0).unwrap();
        let signed = signatures(&[key], "msg_1", 1_700_000_000_999, b"{}");
        assert_eq!(signed, "v1,DjijpYnPcWcWSiPdvC93sCoKwGNWcH97A32JApk39OU=");
    }

    #[test]
    fn two_keys_sign_until_the_old_one_ends() {
        let mut old = SigningKey::generate(0).unwrap();
        old.until = Some(1_000);
        let keys = [SigningKey::generate(0).unwrap(), old];
        assert_eq!(signatures(&keys, "a", 999, b"").split(' ').count(), 2);
        assert_eq!(signatures(&keys, "a", 1_000, b"").split(' ').count(), 1);
    }

    #[test]
    fn keys_are_checked_and_not_shown() {
        for bad in ["", "hunter2", "whsec_", "whsec_%%%", "whsec_c2hvcnQ="] {
            let why = SigningKey::from_secret(bad, 0).unwrap_err();
            assert!(bad.len() < 7 || !why.to_string().contains(bad), "{why}");
        }
        let key = SigningKey::generate(0).unwrap();
        assert!(!format!("{key:?}").contains(&key.reveal_secret()[6..]));
    }
}
