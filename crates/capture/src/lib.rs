//! Probabilities of change per page and instant in; pages to fetch at each instant
//! out, so that the captured updates are worth most. Reads no clock and knows no
//! estimates and no prices; the caller passes the random number generator.
//!
//! The problem is that of WIC (Pandey, Dhamdhere & Olston 2004). Time is divided into instants. A page
//! changes in an instant with a known probability, at most once. An update can be
//! captured for some time ([`Life`]), and is worth less the later it is captured ([`Urgency`]).
//! At each instant up to C pages can be fetched, after the changes of that instant.
//!
//! | what | where |
//! | --- | --- |
//! | what a fetch of a page is worth now, in constant time per instant | [`Pending`] |
//! | WIC's schedule, and how far from the optimum it can be | [`greedy`], [`Greedy`], [`bound`] |
//! | the optimum, for a handful of pages and instants | [`optimum`] |
//! | what a schedule is expected to capture, and what it did capture | [`Schedule`], [`Captured`] |
//! | chances as an estimator with faults would give them | [`Noise`] |
//! | CAM's objective: a change counts only in its own instant | [`Page::cam`] |
//!
//! ```
//! use freshet_capture::{Chances, Page, greedy};
//!
//! // A page that overwrites itself, and one that only adds. Each instant has a row of chances.
//! let pages = [
//!     Page::new(1.0, "overwrite".parse()?, "decay:0.9".parse()?)?,
//!     Page::new(1.0, "append".parse()?, "uniform".parse()?)?,
//! ];
//! let chances = Chances::new(2, vec![0.5, 0.3, 0.5, 0.3, 0.5, 0.3])?;
//! let schedule = greedy(&pages, &chances, 1)?;
//! let order: Vec<&[u32]> = schedule.iter().collect();
//! assert_eq!(order, [&[0], &[1], &[0]]);
//! assert!((schedule.expected(&pages, &chances)? - (0.5 + 0.6 + 0.725)).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod share;

mod life;
mod urgency;

mod page;
mod pending;

mod chances;
mod changes;
mod noise;

mod best;
mod greedy;
mod optimum;

mod captured;
mod schedule;

pub use captured::Captured;
pub use chances::Chances;
pub use changes::Changes;
pub use error::CaptureError;
pub use greedy::{Greedy, bound, greedy};
pub use life::{InvalidLife, Life};
pub use noise::Noise;
pub use optimum::optimum;
pub use page::Page;
pub use pending::Pending;
pub use schedule::Schedule;
pub use share::{InvalidShare, Share};
pub use urgency::{InvalidUrgency, Urgency};
