//! Results of fetches in; change rates, beliefs about them, and the value of a fetch out. Knows no
//! clock, no source and no plan.
//!
//! Time is in days, rates are changes per day, prices and values are per unit of importance.
//!
//! The classic estimators ([`maximum_likelihood_rate`] and its neighbours) compute a change rate
//! from a history. A live source has a [`Belief`] instead: two numbers, updated by each fetch,
//! starting from a [`Prior`] that a [`PriorFit`] learns from other sources. A [`Penalty`] gives the
//! value of a fetch after a number of days, and the interval after which the value reaches a price;
//! a [`CaptureObjective`] gives both where every change is an update to be captured before it is
//! gone. Where a source sends signals, a [`SignalBelief`] learns their precision and recall, and a
//! [`SignalChannel`] gives the value of a fetch when signals are pending.
//!
//! ```
//! use freshet_estimate::{Penalty, Prior};
//!
//! let belief = Prior::BROAD.belief().observe_no_change(3.0).observe_change(2.0);
//! let value = Penalty::Harmonic.fetch_value(belief, 1.0);
//! let interval = Penalty::Harmonic.interval_at_price(belief, value);
//! assert!((interval - 1.0).abs() < 1e-12);
//! ```

mod observation;

mod count_estimators;
mod likelihood;

mod belief;
mod freshness;
mod quantile;

mod prior;
mod prior_fit;

mod penalty;

mod capture;

mod signal_belief;
mod signal_channel;

mod digamma;
mod divided_difference;
mod quadrature;

pub use belief::{Belief, InvalidBelief};
pub use capture::{CaptureObjective, InvalidCapture, UpdateLifetime, Urgency};
pub use count_estimators::{bias_reduced_rate, last_modified_rate, naive_rate, observed_rate};
pub use freshness::expected_first_change;
pub use likelihood::{maximum_likelihood_rate, smoothed_rate};
pub use observation::{Observation, last_observations, observations_in_last_days};
pub use penalty::{Penalty, PendingChanges};
pub use prior::Prior;
pub use prior_fit::{PriorFit, fit_prior};
pub use signal_belief::{SignalBelief, SignalEstimate, SignalPriorFit};
pub use signal_channel::{
    ChangeCountPenalty, InvalidSignalChannel, SignalChannel, SignalsSinceFetch, signal_weight,
};
