//! Bytes of a document in; its content, and whether the content changed, out. Reads no file, no
//! socket and no clock.
//!
//! ```
//! use freshet_detect::{ChangeVerdict, Detector, Document, diff};
//!
//! let detector = Detector::default();
//! let extract = |page: &str| detector.extract(&Document::new(page.as_bytes()));
//! let old = extract("<html><p>It costs 12 €.</p><script>nonce = 1</script>");
//! let new = extract("<html><p class='x'>It costs 12 €.</p><script>nonce = 2</script>");
//! assert_eq!(detector.compare(&old.signature(), None, &new), ChangeVerdict::SameContent);
//!
//! let new = extract("<html><p>It costs 13 €.</p>");
//! assert!(detector.compare(&old.signature(), None, &new).is_change());
//! assert!(diff(&old.text, &new.text).unified(3).contains("+It costs 13 €."));
//! ```

mod document_kind;
mod error;
mod settings;

mod extraction;
mod signature;

mod similarity;
mod sketch;
mod verdict;

mod diff;

mod charset;
mod filter;
mod html;
mod json;
mod nfc;
mod noise;
mod pdf;
mod swar;
mod word_list;
mod xml;

pub use charset::is_charset;
pub use diff::{Diff, DiffPart, DiffRow, DiffSide, diff, diff_outline};
pub use document_kind::DocumentKind;
pub use error::DetectError;
pub use extraction::{Detector, Document, Extraction, digest};
pub use html::{ExcludedText, ExclusionReason, TextScope};
pub use settings::{DetectSettings, RawDetectSettings, SettingsLayer};
pub use signature::{ContentDigests, ContentSignature, RULES_VERSION};
pub use similarity::similarity;
pub use sketch::Sketch;
pub use verdict::ChangeVerdict;
