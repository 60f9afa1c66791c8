//! Value of a fetch when every change is an update to capture, averaged over the belief about the
//! change rate.

mod change_lifetime;
mod decay;
mod interval;
mod text;

use std::f64::consts::LN_2;

use serde::{Deserialize, Serialize};

use crate::belief::Belief;
use crate::divided_difference::first_difference;
use change_lifetime::captured_updates;
use decay::DecayingCapture;

pub use text::InvalidCapture;

/// How long an update stays available at the source.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum UpdateLifetime {
    /// For ever: the source only grows.
    Append,
    /// For a fixed number of days.
    Window(f32),
    /// Until this many further changes have occurred, at least 1.
    Changes(u32),
}

/// How the value of an update decreases with the delay of its capture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Urgency {
    /// Constant: 1 after any delay.
    Uniform,
    /// Exponential decay with a half-life `h` in days: `2^(−s/h)` after `s` days.
    Decay(f32),
    /// 1 up to this many days, then 0.
    Window(f32),
}

/// Capture objective: which updates a fetch captures, and what they are worth (Pandey, Dhamdhere &
/// Olston 2004, in continuous time).
///
/// The source changes by a Poisson process of rate `c`. An update that occurred `s` days before the
/// fetch is still available with a probability given by its [`UpdateLifetime`], and is then worth
/// what its [`Urgency`] gives. A fetch `τ` days after the last one captures
///
/// `g(τ) = ∫₀^τ E[c P(alive after s | c)] urgency(s) ds`.
///
/// With the belief Gamma(a, b), `N` changes in `τ` days, `W` the shorter of the windows if there is
/// one, `t = min(τ, W)` and `d = ln 2/h`:
///
/// | lifetime | uniform, window | decay |
/// | --- | --- | --- |
/// | append, window | `(a/b) t` | `(a/b) (1 − e^(−dt))/d` |
/// | changes | `E[min(N, n)]` at `t` | the integral, by quadrature |
///
/// Accurate to 1e-11 for every shape from 1e-3 to 1e9, every `τ/b` from 1e-9 to 1e9 and up to 1000
/// changes; for more changes the running time grows with at most their square root. `g` is concave:
/// the sooner an update is captured, the more likely it is still available.
///
/// The type takes 16 bytes because there is one per source. That is why it uses `f32`: no window or
/// half-life is known more precisely than its steps of 6e-8.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaptureObjective {
    /// How long an update stays available.
    pub life: UpdateLifetime,
    /// How its value decreases with the delay.
    pub urgency: Urgency,
}

impl UpdateLifetime {
    /// Available until the next change.
    pub const OVERWRITE: Self = Self::Changes(1);

    /// Returns the lifetime if it is valid.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidCapture`] if it ends after 0 changes, or its days are not a positive finite
    /// number.
    pub fn validate(self) -> Result<Self, InvalidCapture> {
        match self {
            Self::Changes(0) => Err(InvalidCapture::ZeroChanges),
            Self::Window(days) if !positive(days) => Err(InvalidCapture::LifetimeWindow(days)),
            _ => Ok(self),
        }
    }
}

impl Urgency {
    /// Returns the urgency if it is valid.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidCapture`] if its days are not a positive finite number.
    pub fn validate(self) -> Result<Self, InvalidCapture> {
        match self {
            Self::Decay(days) if !positive(days) => Err(InvalidCapture::HalfLife(days)),
            Self::Window(days) if !positive(days) => Err(InvalidCapture::UrgencyWindow(days)),
            _ => Ok(self),
        }
    }
}

fn positive(days: f32) -> bool {
    days > 0.0 && days.is_finite()
}

/// Parameters of the capture integral. A window of the lifetime and one of the urgency have the
/// same effect.
struct CaptureTerms {
    /// Number of further changes after which an update is lost, if any.
    changes: Option<u32>,
    /// Days after which an update is worth nothing.
    window: f64,
    /// Decay rate of the value of an update, per day.
    decay: f64,
}

impl CaptureObjective {
    /// Returns the validated objective.
    ///
    /// The fields are public; a caller that sets them directly should validate them too. Values
    /// computed from an invalid lifetime or urgency are meaningless.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidCapture`] if the lifetime or the urgency is invalid.
    pub fn new(life: UpdateLifetime, urgency: Urgency) -> Result<Self, InvalidCapture> {
        Ok(Self { life: life.validate()?, urgency: urgency.validate()? })
    }

    /// Expected value of the updates that a fetch captures `days` after the last one. 0 for days
    /// that are not positive; the [maximum](Self::max_value) for infinite days.
    #[must_use]
    #[inline]
    pub fn fetch_value(self, belief: Belief, days: f64) -> f64 {
        let CaptureTerms { changes, window, decay } = self.terms();
        let days = if days > 0.0 { days.min(window) } else { return 0.0 };
        let (a, b) = (belief.shape(), belief.days());
        let Some(n) = changes else { return belief.mean() * discounted_days(days, decay) };
        let (u, decay) = (days / b, decay * b);
        if decay > 0.0 {
            DecayingCapture { changes: n, shape: a, decay }.value_between(0.0, u)
        } else if u < f64::INFINITY {
            captured_updates(n, a, u).value
        } else {
            f64::from(n)
        }
    }

    /// Upper limit of the fetch value, long after the last fetch. A price above it is never
    /// reached.
    #[must_use]
    pub fn max_value(self, belief: Belief) -> f64 {
        self.fetch_value(belief, f64::INFINITY)
    }

    /// Returns the first day after the last fetch on which a fetch captures `price`: the inverse of
    /// [`fetch_value`](Self::fetch_value), to about 1e-12 where that still grows. 0 for prices of 0
    /// and less; infinite if the price is never reached, is NaN, or is reached after more days than
    /// an `f64` can hold.
    #[must_use]
    #[inline]
    pub fn interval_at_price(self, belief: Belief, price: f64) -> f64 {
        if price <= 0.0 {
            return 0.0;
        }
        if price.is_nan() || price == f64::INFINITY {
            return f64::INFINITY;
        }
        let CaptureTerms { changes, window, decay } = self.terms();
        if window < f64::INFINITY && price > self.fetch_value(belief, window) {
            return f64::INFINITY;
        }
        let (a, b) = (belief.shape(), belief.days());
        let days = match changes {
            None => inverse_discounted_days(price / belief.mean(), decay),
            Some(n) if decay * b > 0.0 => {
                b * interval::interval_with_decay(
                    DecayingCapture { changes: n, shape: a, decay: decay * b },
                    price,
                )
            }
            Some(n) => b * interval::interval_without_decay(n, a, price),
        };
        days.min(window)
    }

    /// Value of capturing one update after a delay and after `further_changes` more changes.
    /// [`fetch_value`](Self::fetch_value) is the expected sum of these. Negative delays count as 0.
    #[must_use]
    pub fn update_value(self, delay_days: f64, further_changes: u32) -> f64 {
        let CaptureTerms { changes, window, decay } = self.terms();
        let alive = changes.is_none_or(|n| further_changes < n) && delay_days <= window;
        if alive { (-decay * delay_days.max(0.0)).exp() } else { 0.0 }
    }

    #[inline]
    fn terms(self) -> CaptureTerms {
        let (changes, life) = match self.life {
            UpdateLifetime::Append => (None, f64::INFINITY),
            UpdateLifetime::Window(days) => (None, f64::from(days)),
            UpdateLifetime::Changes(changes) => (Some(changes), f64::INFINITY),
        };
        let (window, decay) = match self.urgency {
            Urgency::Uniform => (life, 0.0),
            Urgency::Decay(days) => (life, LN_2 / f64::from(days)),
            Urgency::Window(days) => (life.min(f64::from(days)), 0.0),
        };
        CaptureTerms { changes, window, decay }
    }
}

/// `∫₀^days e^(−decay s) ds`.
#[inline]
fn discounted_days(days: f64, decay: f64) -> f64 {
    if days < f64::INFINITY { days * first_difference(-decay * days) } else { 1.0 / decay }
}

/// Inverse of [`discounted_days`]; infinite from its limit on.
#[inline]
fn inverse_discounted_days(sum: f64, decay: f64) -> f64 {
    let share = sum * decay;
    if share >= 1.0 {
        f64::INFINITY
    } else if share > 0.0 {
        -(-share).ln_1p() / decay
    } else {
        sum
    }
}

#[cfg(test)]
mod tests;
