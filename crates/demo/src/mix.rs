//! Change rates of the pages of a synthetic web: several kinds of sites, with pages that change
//! nearly never and pages that change all the time.

use rand::RngExt;
use rand_distr::{Distribution, LogNormal};

use crate::seed::{Purpose, random};

/// A kind of site.
pub(crate) struct Kind {
    /// Prefix of the host names.
    pub(crate) name: &'static str,
    /// Path of the pages.
    pub(crate) section: &'static str,
    /// Share of all pages.
    share: f64,
    /// Changes per day of its median page, and the spread of the others.
    median: f64,
    sigma: f64,
}

/// The kinds form a heavy tail: a small share of the pages makes most of the changes.
pub(crate) const KINDS: [Kind; 5] = [
    Kind { name: "library", section: "archive", share: 0.10, median: 0.5, sigma: 1.0 },
    Kind { name: "docs", section: "guide", share: 0.25, median: 2.0, sigma: 0.5 },
    Kind { name: "shop", section: "item", share: 0.40, median: 3.2, sigma: 0.5 },
    Kind { name: "news", section: "story", share: 0.10, median: 5.0, sigma: 0.5 },
    Kind { name: "wire", section: "ticker", share: 0.15, median: 400.0, sigma: 0.7 },
];

/// Properties of a page: kind, number of its host within the kind, and changes per day.
pub(crate) struct Draw {
    pub(crate) kind: usize,
    pub(crate) host: usize,
    pub(crate) rate: f64,
}

/// Returns the pages of a seed, with the given number of hosts per kind.
pub(crate) fn draw(seed: u64, pages: usize, hosts: usize) -> Vec<Draw> {
    let mut dice = random(seed, Purpose::Rates, 0);
    let one = |_| {
        let mut left = dice.random::<f64>();
        let last = KINDS.len() - 1;
        let kind = KINDS.iter().position(|it| {
            left -= it.share;
            left < 0.0
        });
        let kind = kind.unwrap_or(last);
        // Hosts differ in size: squares of uniform numbers favour the first ones.
        let u = dice.random::<f64>();
        let host = ((u * u * hosts as f64) as usize).min(hosts.saturating_sub(1));
        let Kind { median, sigma, .. } = KINDS[kind];
        let spread = LogNormal::new(median.ln(), sigma);
        let rate = spread.map_or(median, |it| it.sample(&mut dice));
        Draw { kind, host, rate }
    };
    (0..pages).map(one).collect()
}
