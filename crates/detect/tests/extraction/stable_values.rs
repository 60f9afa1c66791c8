//! Values that may change only with the version of the extraction rules, because stores keep them.

use freshet_detect::{ContentSignature, RULES_VERSION, digest};

use crate::extract;

const PAGE: &str =
    "<html><title>T</title><nav>Menu</nav><main><h1>Head</h1><p>It costs 12 €.</p></main>";

#[test]
fn fingerprints_are_the_same_in_every_version_and_on_every_machine() {
    assert_eq!(RULES_VERSION, 2, "new rules: new values below");
    let documents = [
        PAGE,
        "{\"b\": [1.50, true], \"a\": \"x\"}",
        "<?xml version='1.0'?><a b='1'>text</a>",
        "<?xml version='1.0'?><rss><item><title>One</title></item></rss>",
        "two\nlines",
        "%PDF-1.7 /ID [<1>] x",
        "\0\u{1}",
    ];
    let fingerprints = documents.map(|it| format!("{:032x}", extract("", it).digests.fingerprint));
    // Values of version 2 of the rules.
    let expect = [
        "f5bd568dbbd85bf9c7acbcb36f8537a1",
        "f26164080ca3513f57cedb825c014b10",
        "e8c4a895c1e8aaa4d999aa15eb7e46ec",
        "67b0e9208198d30ef3e85a45a3241f3a",
        "bb7d5153638ecac1f6ed3c0e9c698832",
        "89aed6995f7da077df1181da5e2267a7",
        "645abec7c77dd8e46b2ac11de1794ba6",
    ];
    assert_eq!(fingerprints, expect);
    // XXH3-128 of an empty input, as published by its authors.
    assert_eq!(digest(b""), 0x99aa_06d3_0147_98d8_6001_c324_468d_497f);
}

#[test]
fn a_signature_has_a_fixed_layout() {
    let signature = extract("", PAGE).signature();
    let bytes = signature.to_bytes();
    assert_eq!(bytes.len(), 176);
    assert_eq!(ContentSignature::ENCODED_LEN, 176);
    assert_eq!(bytes[..4], [1, 1, 2, 0]);
    assert_eq!(bytes[4..12], [0; 8]);
    assert_eq!(bytes[12..28], digest(PAGE.as_bytes()).to_le_bytes());
    assert_eq!(bytes[28..44], signature.digests.fingerprint.to_le_bytes());
    assert_eq!(bytes[44..48], 6_u32.to_le_bytes());
}

#[test]
fn settings_have_a_fixed_digest() {
    let digest = |toml: &str| extract(toml, "").digests.settings;
    assert_eq!(digest(""), 0);
    assert_eq!(digest("noise = false\ntext = 'main'\nbelow = 0.5\nselect = []"), 0);
    assert_eq!(digest("select = ['p']"), 8_855_497_521_173_398_218);
    assert_ne!(digest("select = ['p']"), digest("drop = ['p']"));
    assert_ne!(digest("select = ['p', 'q']"), digest("select = ['p q']"));
}
