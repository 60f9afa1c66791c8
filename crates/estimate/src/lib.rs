//! Observations in; change rates out. Knows no clock and no source.

mod likelihood;

pub use likelihood::{Observation, smoothed_rate};
