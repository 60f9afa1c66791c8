//! Bytes of a document in; what counts of it, and whether that changed, out. Knows no file, no
//! socket and no clock.
//!
//! ```
//! use freshet_detect::{Detector, Document, Verdict, diff};
//!
//! let detector = Detector::default();
//! let read = |page: &str| detector.read(&Document::new(page.as_bytes()));
//! let old = read("<html><p>It costs 12 €.</p><script>nonce = 1</script>");
//! let new = read("<html><p class='x'>It costs 12 €.</p><script>nonce = 2</script>");
//! assert_eq!(detector.judge(&old.stored(), None, &new), Verdict::SameContent);
//!
//! let new = read("<html><p>It costs 13 €.</p>");
//! assert!(detector.judge(&old.stored(), None, &new).is_change());
//! assert!(diff(&old.text, &new.text).unified(3).contains("+It costs 13 €."));
//! ```

mod error;
mod kind;
mod settings;

mod reading;
mod stored;

mod judge;
mod similarity;
mod sketch;

mod diff;

mod charset;
mod filter;
mod html;
mod json;
mod noise;
mod normal;
mod pdf;
mod swar;
mod xml;

pub use charset::is_charset;
pub use diff::{Diff, Part, Row, Side, diff, outline};
pub use error::DetectError;
pub use html::{Basis, LeftOut, Reason};
pub use judge::Verdict;
pub use kind::Kind;
pub use reading::{Detector, Document, Reading, digest};
pub use settings::{Layer, RawSettings, Settings};
pub use similarity::similarity;
pub use sketch::Sketch;
pub use stored::{Mark, RULES, Stored};
