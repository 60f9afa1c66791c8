//! When a page changes.

use std::sync::Arc;

use freshet_model::History;
use rand_distr::{Distribution, Exp1};
use rand_pcg::Pcg64;

use crate::clock::DAY;
use crate::seed::{Purpose, random};

/// The days on which one page changes, one after the other.
#[derive(Clone, Debug)]
pub(crate) enum Changes {
    /// At random times, at a constant rate.
    Poisson { rate: f64, random: Pcg64, at: f64 },
    /// When it really did; day 0 is `start`, in seconds since 1970.
    Recorded { history: Arc<History>, page: usize, drawn: usize, start: f64 },
}

impl Changes {
    pub(crate) fn poisson(seed: u64, page: usize, rate: f64) -> Self {
        Self::Poisson { rate, random: random(seed, Purpose::Changes, page as u64), at: 0.0 }
    }

    pub(crate) fn recorded(history: &Arc<History>, page: usize, start: f64) -> Self {
        Self::Recorded { history: Arc::clone(history), page, drawn: 0, start }
    }
}

impl Iterator for Changes {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        match self {
            Self::Poisson { rate, .. } if *rate <= 0.0 => None,
            Self::Poisson { rate, random, at } => {
                let wait: f64 = Exp1.sample(random);
                *at += wait / *rate;
                Some(*at)
            }
            Self::Recorded { history, page, drawn, start } => {
                let time = *history.changes(*page).get(*drawn)?;
                *drawn += 1;
                Some((time - *start) / DAY)
            }
        }
    }
}
