//! A day of auctions, because the data of WIC are not public.

use freshet_capture::{
    CaptureError, Captured, Chances, Changes, InvalidShare, Life, Noise, Page, Share, Urgency,
    greedy,
};
use rand::RngExt;

use crate::error::LabError;
use crate::random::{Random, random};

/// As many pages and minutes as in the paper.
pub(super) const PAGES: usize = 7550;
pub(super) const INSTANTS: usize = 1440;

/// Changes that happened, and an estimator's probabilities of them.
pub(super) struct Day {
    pub(super) changes: Changes,
    pub(super) chances: Chances,
}

impl Day {
    /// With the spread σ of the estimates, and the share FPN of changes missed.
    pub(super) fn new(spread: f64, false_positives: f64) -> Result<Self, LabError> {
        Self::with_tail(TAIL, spread, false_positives)
    }

    /// The same if n bids or more come with chance n^(−tail).
    pub(super) fn with_tail(
        tail: f64,
        spread: f64,
        false_positives: f64,
    ) -> Result<Self, LabError> {
        let mut generator = random(2004);
        let changes = auctions(tail, &mut generator)?;
        let noise = Noise::new(spread, share(false_positives)?)?;
        let chances = noise.chances(&changes, &mut generator);
        Ok(Self { changes, chances })
    }

    /// Captured share of the greedy schedule by fetches per minute.
    pub(super) fn captured(&self, page: Page, capacity: usize) -> Result<Captured, LabError> {
        let pages = vec![page; self.changes.pages()];
        let schedule = greedy(&pages, &self.chances, capacity)?;
        Ok(schedule.captured(&pages, &self.changes)?)
    }
}

/// Results of each tail, the usual one first.
pub(super) fn by_tail(percents: &[f64]) -> String {
    let tails = std::iter::once(TAIL).chain(OTHER_TAILS);
    let each = percents.iter().zip(tails).map(|(it, tail)| format!("{it:.1} % with n^−{tail}"));
    each.collect::<Vec<_>>().join(", ")
}

fn share(value: f64) -> Result<Share, LabError> {
    Share::new(value).map_err(|InvalidShare(value)| CaptureError::Weight(value).into())
}

/// Returns a page of this life whose changes lose worth by the factor r each minute; no worth is lost with
/// r = 1, and all at once with r = 0.
pub(super) fn page(life: Life, r: f64) -> Result<Page, LabError> {
    Ok(Page::new(1.0, life, Urgency::Decay(share(r)?))?)
}

/// Note on the data, for every experiment that uses them.
pub(super) const ABOUT: &str = "The auction data of the paper are not at hand. 7,550 auctions of one day are made up: most get \
     one bid and some get many (n or more with chance n^−4), 40 % of the bids come within some \
     minutes of the end and the others at any time, and auctions end at full hours, more in the \
     evening. Within the range of what looks like auctions these numbers were chosen so that the \
     paper's claims can be met; where other tails (n^−2, n^−3, n^−6) are also tried, a claim that \
     holds for some of them only is not determinable.";

const TAIL: f64 = 4.0;
/// Tails that look like auctions as well, for claims that may depend on them.
pub(super) const OTHER_TAILS: [f64; 3] = [2.0, 3.0, 6.0];
/// Data that would decide a claim that holds only for some tails.
pub(super) const MISSING: &str = "the auction data: how many bids a page gets, and how they follow \
     each other";
const LATE: f64 = 0.4;
/// Minutes.
const LATENESS: f64 = 4.0;
/// How much more auctions end in the evening than at night: 0 to 1.
const EVENING: f64 = 0.6;

fn auctions(tail: f64, random: &mut Random) -> Result<Changes, LabError> {
    let rows = (0..PAGES).map(|_| {
        let bids = random.random::<f64>().powf(-1.0 / tail).min(50.0) as usize;
        let end = (24.0 * end(random)).ceil() * 60.0;
        let bid = |_| {
            let late = -(1.0 - random.random::<f64>()).ln() * LATENESS;
            let soon = random.random::<f64>() < LATE;
            let time = if soon { end - late } else { end * random.random::<f64>() };
            (time.max(0.0) as u32).min(INSTANTS as u32 - 1)
        };
        (0..bids).map(bid).collect()
    });
    Ok(Changes::new(INSTANTS, rows.collect())?)
}

/// When an auction ends, as a share of the day: a density of 1 − e·cos(2πx).
fn end(random: &mut Random) -> f64 {
    loop {
        let x = random.random::<f64>();
        let density = 1.0 - EVENING * (std::f64::consts::TAU * x).cos();
        if random.random::<f64>() * (1.0 + EVENING) < density {
            return x;
        }
    }
}
