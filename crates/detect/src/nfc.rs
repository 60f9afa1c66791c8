//! Unicode normalization: `é` is one character, or an `e` and an accent.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Appends `text` in normalization form C.
pub(crate) fn push_nfc(text: &str, out: &mut String) {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        out.push_str(text);
    } else {
        out.extend(text.nfc());
    }
}
