//! Change times of a page.

use std::sync::Arc;

use freshet_model::ChangeTrace;
use rand_distr::{Distribution, Exp1};
use rand_pcg::Pcg64;

use crate::clock::DAY;
use crate::seed::{Purpose, random};

/// Iterator over the days on which a page changes.
#[derive(Clone, Debug)]
pub(crate) enum Changes {
    /// At random times, at a constant rate.
    Poisson { rate: f64, random: Pcg64, at: f64 },
    /// Recorded changes; day 0 is `start` in seconds since 1970.
    Recorded { history: Arc<ChangeTrace>, page: usize, drawn: usize, start: f64 },
}

impl Changes {
    pub(crate) fn poisson(seed: u64, page: usize, rate: f64) -> Self {
        Self::Poisson { rate, random: random(seed, Purpose::Changes, page as u64), at: 0.0 }
    }

    pub(crate) fn recorded(history: &Arc<ChangeTrace>, page: usize, start: f64) -> Self {
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
                let time = *history.change_times(*page).get(*drawn)?;
                *drawn += 1;
                Some((time - *start) / DAY)
            }
        }
    }
}
