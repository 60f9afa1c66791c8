//! What fetches saw in; change rates, beliefs about them, and what a fetch is worth out. Knows no
//! clock, no source and no plan.
//!
//! Time is in days, rates are changes per day, prices and values are per unit of importance.
//!
//! A history gives a rate by one of the classic estimators ([`likelihood_rate`] and its
//! neighbours). A live source has a [`Belief`] instead: two numbers, updated by each fetch,
//! started from a [`Prior`] that a [`Fit`] over its siblings gives. A [`Penalty`] says what a fetch
//! of such a source is worth after so many days, and when it will be worth a price; a [`Capture`]
//! says the same where every change is an update to be captured before it is gone. Where a source sends
//! signals, a [`Trust`] learns how far they can be trusted, and a [`Channel`] says what a fetch is worth
//! with so many of them pending.
//!
//! ```
//! use freshet_estimate::{Penalty, Prior};
//!
//! let belief = Prior::BROAD.belief().unchanged(3.0).changed(2.0);
//! let tomorrow = Penalty::Harmonic.value(belief, 1.0);
//! let due = Penalty::Harmonic.due(belief, tomorrow);
//! assert!((due - 1.0).abs() < 1e-12);
//! ```

mod observation;

mod counting;
mod likelihood;

mod belief;
mod fresh;
mod quantile;

mod fit;
mod prior;

mod penalty;

mod capture;

mod signal;
mod trust;

mod difference;
mod digamma;
mod quadrature;

pub use belief::{Belief, InvalidBelief};
pub use capture::{Capture, InvalidCapture, Life, Urgency};
pub use counting::{bias_reduced_rate, last_modified_rate, naive_rate, observed_rate};
pub use fit::{Fit, fit_beliefs};
pub use fresh::first_change;
pub use likelihood::{likelihood_rate, smoothed_rate};
pub use observation::{Observation, last_days, last_fetches};
pub use penalty::{Penalty, Pending};
pub use prior::Prior;
pub use signal::{Channel, Counted, Heard, InvalidChannel, signal_weight};
pub use trust::{Reading, Siblings, Trust};
