//! Who says that sources have changed: sitemaps and feeds, which are read as sources are fetched, and
//! those who speak by themselves.

mod change;
mod handle;
mod news;
mod offline;
mod outcome;
mod read;
mod rule;
mod signal_buffer;
mod signal_reader;

pub use self::change::{NewSignalSourceRequest, SignalSourceError, SignalSourcePatch};
pub(crate) use self::change::{SignalSourceChange, SignalSourceChanges};
pub use self::handle::SignalSourceState;
pub(crate) use self::news::{SignalEncoding, moment, news, once};
pub use self::offline::{add_herald, remove_herald};
pub use self::outcome::{SignalSourceRead, defect_about};
pub(crate) use self::read::ReadOver;
pub use self::rule::DiscoveryRule;

use crate::clock::days;

/// What a herald said of a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignalReport {
    /// Which source.
    pub source: u32,
    /// When the change was, if that is said: seconds since 1970, the earliest and the latest.
    pub said: Option<(i64, i64)>,
}

/// The same, and what is to be remembered of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    pub(crate) hearsay: SignalReport,
    /// Whether that is news; if not, it is only remembered.
    pub(crate) signal: bool,
    pub(crate) moment: Option<i64>,
    pub(crate) print: u64,
}

impl SignalReport {
    /// As the engine takes it: not later than now.
    pub(crate) fn said(&self, now: f64) -> Option<freshet_engine::SignalReceipt> {
        let (first, last) = self.said?;
        let day = days(first.saturating_mul(1000)).min(now);
        let grain = (days(last.saturating_mul(1000)) - day).clamp(0.0, 400.0);
        Some(freshet_engine::SignalReceipt { day, grain })
    }
}
