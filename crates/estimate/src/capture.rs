//! What a fetch is worth where every change is an update to be captured, averaged over what is
//! believed of the source.

mod changes;
mod decay;
mod due;
mod spelling;

use std::f64::consts::LN_2;

use serde::{Deserialize, Serialize};

use crate::belief::Belief;
use crate::difference::ratio;
use changes::captured;
use decay::Fading;

pub use spelling::InvalidCapture;

/// How long an update can still be captured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Life {
    /// For ever: the source only grows.
    Append,
    /// For so many days.
    Days(f32),
    /// Until so many further changes have come, at least 1.
    Changes(u32),
}

/// What an update is worth that is captured after a delay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Urgency {
    /// 1, however late.
    Uniform,
    /// Half as much for each delay of so many days: `2^(−s/h)` after `s`.
    Decay(f32),
    /// 1 up to so many days, then 0.
    Days(f32),
}

/// Capture mode: which updates a fetch captures, and what they are worth (Pandey, Dhamdhere &
/// Olston 2004, in continuous time).
///
/// The source changes by a Poisson process of rate `c`; an update that came `s` days before the
/// fetch is still there with a chance given by its [`Life`], and then worth what its [`Urgency`]
/// says. A fetch `τ` days after the last captures
///
/// `g(τ) = ∫₀^τ E[c P(alive after s | c)] urgency(s) ds`.
///
/// With the belief Gamma(a, b), `N` changes in `τ` days, `W` the shorter of the windows if there
/// is one, `t = min(τ, W)` and `d = ln 2/h`:
///
/// | life | uniform, window | decay |
/// | --- | --- | --- |
/// | append, window | `(a/b) t` | `(a/b) (1 − e^(−dt))/d` |
/// | changes | `E[min(N, n)]` at `t` | the integral, by quadrature |
///
/// Within 1e-11 for every shape from 1e-3 to 1e9, every `τ/b` from 1e-9 to 1e9 and up to 1000
/// changes; for more changes the time grows with their square root at most. `g` is concave: the
/// sooner an update is captured the surer it is there.
///
/// 16 bytes, since there is one for each source: hence `f32`, whose steps of 6e-8 no window or
/// half-life is known to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Capture {
    /// How long an update can be captured.
    pub life: Life,
    /// What it is worth by then.
    pub urgency: Urgency,
}

impl Life {
    /// Until the next change.
    pub const OVERWRITE: Self = Self::Changes(1);

    /// The life itself, if it is one.
    ///
    /// # Errors
    ///
    /// If it ends after 0 changes, or its days are not a positive finite number.
    pub fn check(self) -> Result<Self, InvalidCapture> {
        match self {
            Self::Changes(0) => Err(InvalidCapture::NoChanges),
            Self::Days(days) if !positive(days) => Err(InvalidCapture::LifeDays(days)),
            _ => Ok(self),
        }
    }
}

impl Urgency {
    /// The urgency itself, if it is one.
    ///
    /// # Errors
    ///
    /// If its days are not a positive finite number.
    pub fn check(self) -> Result<Self, InvalidCapture> {
        match self {
            Self::Decay(days) if !positive(days) => Err(InvalidCapture::HalfLife(days)),
            Self::Days(days) if !positive(days) => Err(InvalidCapture::UrgencyDays(days)),
            _ => Ok(self),
        }
    }
}

fn positive(days: f32) -> bool {
    days > 0.0 && days.is_finite()
}

/// A capture mode as the mathematics sees it: a window is the same to the life and to the urgency.
struct Terms {
    /// The further changes that end an update, if any do.
    changes: Option<u32>,
    /// The days after which an update is worth nothing.
    window: f64,
    /// The share of its worth that an update loses per day.
    decay: f64,
}

impl Capture {
    /// Both, checked.
    ///
    /// The fields are open, and whoever sets them otherwise should check them too: with numbers
    /// that are neither a life nor an urgency the values mean nothing.
    ///
    /// # Errors
    ///
    /// If either is none.
    pub fn new(life: Life, urgency: Urgency) -> Result<Self, InvalidCapture> {
        Ok(Self { life: life.check()?, urgency: urgency.check()? })
    }

    /// What a fetch captures `days` after the last, on average over the belief. 0 for days that are
    /// not positive; the [limit](Self::limit) for infinite days.
    #[must_use]
    #[inline]
    pub fn value(self, belief: Belief, days: f64) -> f64 {
        let Terms { changes, window, decay } = self.terms();
        let days = if days > 0.0 { days.min(window) } else { return 0.0 };
        let (a, b) = (belief.shape(), belief.days());
        let Some(n) = changes else { return belief.mean() * spent(days, decay) };
        let (u, decay) = (days / b, decay * b);
        if decay > 0.0 {
            Fading { changes: n, shape: a, decay }.between(0.0, u)
        } else if u < f64::INFINITY {
            captured(n, a, u).value
        } else {
            f64::from(n)
        }
    }

    /// What a fetch captures at most, long after the last; a price above it is never reached.
    #[must_use]
    pub fn limit(self, belief: Belief) -> f64 {
        self.value(belief, f64::INFINITY)
    }

    /// The first day after the last fetch on which a fetch captures `price`: the inverse of
    /// [`value`](Self::value), to about 1e-12 where that still grows. 0 for prices of 0 and less;
    /// infinite if the price is never reached, is not a number, or is reached after more days than
    /// there are numbers.
    #[must_use]
    #[inline]
    pub fn due(self, belief: Belief, price: f64) -> f64 {
        if price <= 0.0 {
            return 0.0;
        }
        if price.is_nan() || price == f64::INFINITY {
            return f64::INFINITY;
        }
        let Terms { changes, window, decay } = self.terms();
        if window < f64::INFINITY && price > self.value(belief, window) {
            return f64::INFINITY;
        }
        let (a, b) = (belief.shape(), belief.days());
        let days = match changes {
            None => unspent(price / belief.mean(), decay),
            Some(n) if decay * b > 0.0 => {
                b * due::fading(Fading { changes: n, shape: a, decay: decay * b }, price)
            }
            Some(n) => b * due::lasting(n, a, price),
        };
        days.min(window)
    }

    /// What the capture of one update is worth after a delay, when so many further changes have come
    /// since: what [`value`](Self::value) is the expected sum of. Delays below 0 are none.
    #[must_use]
    pub fn captured(self, delay_days: f64, further_changes: u32) -> f64 {
        let Terms { changes, window, decay } = self.terms();
        let alive = changes.is_none_or(|n| further_changes < n) && delay_days <= window;
        if alive { (-decay * delay_days.max(0.0)).exp() } else { 0.0 }
    }

    #[inline]
    fn terms(self) -> Terms {
        let (changes, life) = match self.life {
            Life::Append => (None, f64::INFINITY),
            Life::Days(days) => (None, f64::from(days)),
            Life::Changes(changes) => (Some(changes), f64::INFINITY),
        };
        let (window, decay) = match self.urgency {
            Urgency::Uniform => (life, 0.0),
            Urgency::Decay(days) => (life, LN_2 / f64::from(days)),
            Urgency::Days(days) => (life.min(f64::from(days)), 0.0),
        };
        Terms { changes, window, decay }
    }
}

/// `∫₀^days e^(−decay s) ds`.
#[inline]
fn spent(days: f64, decay: f64) -> f64 {
    if days < f64::INFINITY { days * ratio(-decay * days) } else { 1.0 / decay }
}

/// The inverse of [`spent`], infinite from its limit on.
#[inline]
fn unspent(sum: f64, decay: f64) -> f64 {
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
