//! Distributions of rates and importances over the sources of a synthetic web.

use std::fmt;
use std::str::FromStr;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_distr::{Gamma, LogNormal, Zipf};

use crate::seed::Random;

/// A distribution of positive numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// The same value for all: `equal[:VALUE]`.
    Equal(f64),
    /// Uniform between two bounds: `uniform[:LOW,HIGH]`.
    Uniform {
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
    /// The r-th largest value is `r^(−S)`, in random order: `zipf[:S]`.
    Zipf(f64),
    /// Whole numbers `k` up to a range, each drawn with a probability proportional to `k^(−S)`:
    /// `zipf-draws[:S,RANGE]`.
    ZipfDraws {
        /// Exponent.
        exponent: f64,
        /// Largest number.
        range: f64,
    },
    /// `lognormal[:MEDIAN,SIGMA]`.
    LogNormal {
        /// Median.
        median: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// `gamma[:SHAPE,MEAN]`.
    Gamma {
        /// Shape; below 1, most numbers are far below the mean.
        shape: f64,
        /// Mean.
        mean: f64,
    },
}

/// Error for an invalid distribution.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a distribution such as `equal`, `uniform:0,1`, `zipf:1`, `zipf-draws:2,10000`, \
     `lognormal:0.2,1.5` or `gamma:0.5,0.2`"
)]
pub struct InvalidDistribution(String);

impl Distribution {
    /// Draws `n` numbers.
    pub(crate) fn draw(self, n: usize, random: &mut Random) -> Vec<f64> {
        match self {
            Self::Equal(value) => vec![value; n],
            Self::Uniform { low, high } => {
                // Excludes the lower bound, so that every source changes.
                (0..n).map(|_| high - (high - low) * random.random::<f64>()).collect()
            }
            Self::Zipf(exponent) => {
                let mut all: Vec<f64> = (1..=n).map(|rank| (rank as f64).powf(-exponent)).collect();
                all.shuffle(random);
                all
            }
            Self::ZipfDraws { exponent, range } => {
                Zipf::new(range, exponent).map_or_else(|_| vec![1.0; n], |it| many(it, n, random))
            }
            Self::LogNormal { median, sigma } => LogNormal::new(median.ln(), sigma)
                .map_or_else(|_| vec![median; n], |it| many(it, n, random)),
            Self::Gamma { shape, mean } => Gamma::new(shape, mean / shape)
                .map_or_else(|_| vec![mean; n], |it| many(it, n, random)),
        }
    }
}

fn many(of: impl rand_distr::Distribution<f64>, n: usize, random: &mut Random) -> Vec<f64> {
    // A value that underflows is replaced, so that every source changes.
    (0..n).map(|_| of.sample(random).clamp(1e-30, 1e30)).collect()
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal(value) => write!(f, "equal:{value}"),
            Self::Uniform { low, high } => write!(f, "uniform:{low},{high}"),
            Self::Zipf(exponent) => write!(f, "zipf:{exponent}"),
            Self::ZipfDraws { exponent, range } => write!(f, "zipf-draws:{exponent},{range}"),
            Self::LogNormal { median, sigma } => write!(f, "lognormal:{median},{sigma}"),
            Self::Gamma { shape, mean } => write!(f, "gamma:{shape},{mean}"),
        }
    }
}

impl FromStr for Distribution {
    type Err = InvalidDistribution;

    fn from_str(text: &str) -> Result<Self, InvalidDistribution> {
        let wrong = || InvalidDistribution(text.to_owned());
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let numbers: Vec<f64> = if rest.is_empty() {
            Vec::new()
        } else {
            rest.split(',')
                .map(|number| number.trim().parse().ok())
                .collect::<Option<_>>()
                .ok_or_else(wrong)?
        };
        let ordinary = |value: f64| (1e-30..=1e30).contains(&value);
        let it = match (name, &numbers[..]) {
            ("equal", []) => Self::Equal(1.0),
            ("equal", &[value]) if ordinary(value) => Self::Equal(value),
            ("uniform", []) => Self::Uniform { low: 0.0, high: 1.0 },
            ("uniform", &[low, high]) if low >= 0.0 && ordinary(high) && low <= high => {
                Self::Uniform { low, high }
            }
            ("zipf", []) => Self::Zipf(1.0),
            ("zipf", &[exponent]) if (0.0..=10.0).contains(&exponent) => Self::Zipf(exponent),
            ("zipf-draws", []) => Self::ZipfDraws { exponent: 2.0, range: 10_000.0 },
            ("zipf-draws", &[exponent, range])
                if (0.0..=10.0).contains(&exponent) && (1.0..=1e15).contains(&range) =>
            {
                Self::ZipfDraws { exponent, range }
            }
            ("lognormal", []) => Self::LogNormal { median: 0.2, sigma: 1.5 },
            ("lognormal", &[median, sigma])
                if ordinary(median) && (0.0..=20.0).contains(&sigma) =>
            {
                Self::LogNormal { median, sigma }
            }
            ("gamma", []) => Self::Gamma { shape: 0.5, mean: 0.2 },
            ("gamma", &[shape, mean]) if (1e-3..=1e9).contains(&shape) && ordinary(mean) => {
                Self::Gamma { shape, mean }
            }
            _ => return Err(wrong()),
        };
        Ok(it)
    }
}
