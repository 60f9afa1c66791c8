//! Signatures of webhooks as in Standard Webhooks: HMAC-SHA256 of `id.timestamp.body`.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use utoipa::ToSchema;

use crate::filter::InvalidSetting;

const SECRET_PREFIX: &str = "whsec_";
/// Length of generated keys in bytes.
const GENERATED_KEY_LEN: usize = 32;
/// Accepted lengths of keys in bytes.
const KEY_LENGTHS: std::ops::RangeInclusive<usize> = 24..=64;

/// Signing key, as stored.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SigningKey {
    /// `whsec_` followed by 24 to 64 bytes in base64.
    pub(crate) secret: String,
    /// Time of its creation, in milliseconds since 1970.
    pub(crate) made: i64,
    /// End of its validity, if it was replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<i64>,
}

/// The system provides no random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system provides no random numbers to generate a secret")]
pub struct RandomSourceError;

impl SigningKey {
    /// Generates a key.
    ///
    /// # Errors
    /// Returns [`RandomSourceError`] if the system provides no random numbers.
    pub fn generate(now: i64) -> Result<Self, RandomSourceError> {
        let mut bytes = [0; GENERATED_KEY_LEN];
        getrandom::fill(&mut bytes).map_err(|_| RandomSourceError)?;
        let secret = format!("{SECRET_PREFIX}{}", STANDARD.encode(bytes));
        Ok(Self { secret, made: now, until: None })
    }

    /// Creates a key from a secret that was generated elsewhere.
    ///
    /// # Errors
    /// Returns [`InvalidSetting`] if the secret has the wrong form.
    pub fn from_secret(secret: &str, now: i64) -> Result<Self, InvalidSetting> {
        let key = Self { secret: secret.trim().to_owned(), made: now, until: None };
        key.bytes().map(|_| ())?;
        Ok(key)
    }

    /// Returns the secret, which the receiver needs to verify signatures. Show it only once.
    #[must_use]
    pub fn reveal_secret(&self) -> &str {
        &self.secret
    }

    /// Returns the time of its creation.
    #[must_use]
    pub fn made(&self) -> i64 {
        self.made
    }

    /// End of its validity, if it was replaced.
    #[must_use]
    pub fn until(&self) -> Option<i64> {
        self.until
    }

    pub(crate) fn bytes(&self) -> Result<Vec<u8>, InvalidSetting> {
        let invalid = |reason: &str| InvalidSetting::new("secret", reason);
        let text = self.secret.strip_prefix(SECRET_PREFIX);
        let text = text.ok_or_else(|| invalid("a secret must start with `whsec_`"))?;
        let bytes = STANDARD.decode(text);
        let bytes = bytes.map_err(|_| invalid("the part after `whsec_` is not base64"))?;
        match KEY_LENGTHS.contains(&bytes.len()) {
            true => Ok(bytes),
            false => Err(invalid("a secret must have 24 to 64 bytes")),
        }
    }

    fn sign(&self, id: &str, seconds: i64, body: &[u8]) -> Option<String> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.bytes().ok()?).ok()?;
        mac.update(format!("{id}.{seconds}.").as_bytes());
        mac.update(body);
        Some(format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes())))
    }
}

/// Returns the header `webhook-signature`: one signature per key that is valid at `now`.
pub(crate) fn signatures(keys: &[SigningKey], id: &str, now: i64, body: &[u8]) -> String {
    let valid = keys.iter().filter(|key| key.until.is_none_or(|until| now < until));
    let signatures = valid.filter_map(|key| key.sign(id, now.div_euclid(1000), body));
    signatures.collect::<Vec<_>>().join(" ")
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
    fn a_signature_equals_the_one_of_python() {
        // base64.b64encode(hmac.new(b"0123456789abcdef01234567", b"msg_1.1700000000.{}",
        // hashlib.sha256).digest())
        let secret = format!("{SECRET_PREFIX}{}", STANDARD.encode("0123456789abcdef01234567"));
        let key = SigningKey::from_secret(&secret, 0).unwrap();
        let signed = signatures(&[key], "msg_1", 1_700_000_000_999, b"{}");
        assert_eq!(signed, "v1,DjijpYnPcWcWSiPdvC93sCoKwGNWcH97A32JApk39OU=");
    }

    #[test]
    fn two_keys_sign_until_the_old_one_expires() {
        let mut old = SigningKey::generate(0).unwrap();
        old.until = Some(1_000);
        let keys = [SigningKey::generate(0).unwrap(), old];
        assert_eq!(signatures(&keys, "a", 999, b"").split(' ').count(), 2);
        assert_eq!(signatures(&keys, "a", 1_000, b"").split(' ').count(), 1);
    }

    #[test]
    fn keys_are_validated_and_not_shown() {
        for invalid in ["", "hunter2", "whsec_", "whsec_%%%", "whsec_c2hvcnQ="] {
            let error = SigningKey::from_secret(invalid, 0).unwrap_err();
            assert!(invalid.len() < 7 || !error.to_string().contains(invalid), "{error}");
        }
        let key = SigningKey::generate(0).unwrap();
        assert!(!format!("{key:?}").contains(&key.reveal_secret()[6..]));
    }
}
