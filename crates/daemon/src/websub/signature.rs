//! Push signatures: `X-Hub-Signature: sha256=…`, an HMAC of the body with the secret.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

/// True if the header contains a valid signature of the body. Runs in constant time.
pub(super) fn is_valid(secret: &str, signature: &str, body: &[u8]) -> bool {
    let Some((method, digits)) = signature.trim().split_once('=') else { return false };
    let Some(tag) = decode_hex(digits) else { return false };
    let key = secret.as_bytes();
    match method.to_ascii_lowercase().as_str() {
        "sha1" => verify::<Hmac<Sha1>>(key, body, &tag),
        "sha256" => verify::<Hmac<Sha256>>(key, body, &tag),
        "sha384" => verify::<Hmac<Sha384>>(key, body, &tag),
        "sha512" => verify::<Hmac<Sha512>>(key, body, &tag),
        _ => false,
    }
}

fn verify<M: Mac + KeyInit>(key: &[u8], body: &[u8], tag: &[u8]) -> bool {
    let Ok(mut mac) = <M as KeyInit>::new_from_slice(key) else { return false };
    mac.update(body);
    mac.verify_slice(tag).is_ok()
}

/// Decodes hexadecimal digits.
fn decode_hex(digits: &str) -> Option<Vec<u8>> {
    // SHA-512 has the longest signature.
    if digits.len() > 128 || !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let pairs = digits.as_bytes().chunks_exact(2);
    pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 2202 §3 and RFC 4231 §4.3: test case 2, with the key "Jefe".
    const BODY: &[u8] = b"what do ya want for nothing?";
    const GOOD: [&str; 4] = [
        "sha1=effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
        "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        "sha384=af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
        "sha512=164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
    ];

    #[test]
    fn signatures_match_the_test_vectors_of_the_rfcs() {
        for good in GOOD {
            assert!(is_valid("Jefe", good, BODY), "{good}");
            assert!(is_valid("Jefe", &good.to_uppercase(), BODY), "{good}");
            assert!(!is_valid("jefe", good, BODY));
            assert!(!is_valid("Jefe", good, b"something else"));
        }
    }

    #[test]
    fn an_invalid_signature_is_rejected() {
        let short = &GOOD[1][..GOOD[1].len() - 2];
        let other = GOOD[0].replace("sha1", "sha256");
        let weak = GOOD[0].replace("sha1", "md5");
        let long = format!("sha512={}", "0".repeat(4096));
        let cases =
            ["", "=", "sha256", "sha256=", "sha256=xyz", "sha256=é", short, &other, &weak, &long];
        for invalid in cases {
            assert!(!is_valid("Jefe", invalid, BODY), "{invalid}");
        }
    }
}
