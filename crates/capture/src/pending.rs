//! Expected worth of a fetch of a page.

mod counted;
mod counted_window;
mod window;

use crate::{Life, Share, Urgency};
use counted::Counted;
use counted_window::CountedWindow;
use window::Window;

/// Worth below which it counts as zero: subnormal numbers lose digits and are slow.
const NOTHING: f64 = 1e-300;

fn settled(worth: f64) -> f64 {
    if worth > NOTHING { worth } else { 0.0 }
}

/// Expected worth of fetching a page now, updated at each instant.
///
/// With probabilities π since the last fetch at p, the worth at instant j is (WIC §3, without the weight)
///
/// ```text
/// g(p, j) = Σ urgency(j − k) · πₖ · life(k, j),   k = p+1, …, j
/// ```
///
/// where `life(k, j)` is the probability that a change in k is still available in j. The sum is updated incrementally;
/// each instant takes constant time (amortised, with time windows):
///
/// | life | urgency | what is kept |
/// | --- | --- | --- |
/// | append | uniform, decay | one number, g ← rg + π |
/// | overwrite | uniform, decay | one number, g ← r(1 − π)g + π |
/// | append, overwrite | window | a number for each instant of the window |
/// | window | any | a number for each instant of the shorter window |
/// | changes n | uniform, decay | n numbers; [why not fewer](#change-windows) |
/// | changes n | window w | w numbers, and some n√w if n ≤ w |
///
/// No digits are lost over time. A sum over a sliding window is
/// stored as two stacks (a queue made of two stacks), without subtraction.
///
/// # Time windows
///
/// The paper assumes that the previous worth and the present probability are sufficient for all lives
/// but change windows. For time windows they are not: after the probabilities (1, 0) and (0, 1) a window of
/// one instant has a worth of 1 in both cases, and one instant later of 0 and 1.
/// One number must be stored for each instant that can still leave the window.
///
/// # Change windows
///
/// With q changes after a change in k, `life(k, j)` is the chance of q < n. Kept are the parts of
/// the worth with q = 0, …, n−1 changes after them: Aq ← r((1 − π)Aq + πAq₋₁),
/// A₀ ← r(1 − π)A₀ + π, and g is their sum. Under uniform urgency Aq = P(N > q) and
/// g = E\[min(N, n)\], with N the number of changes since the last fetch.
///
/// The time does not depend on the length of the history, and is in proportion to n at most. No
/// exact method is constant in n as well:
///
/// - *n numbers must be kept.* After m sure changes the worth is m + E\[min(N, n − m)\]. So
///   whatever is kept must give E\[min(N, 1)\], …, E\[min(N, n)\], which is to say P(N = 0), …,
///   P(N = n−1). Up to a common factor these are the elementary symmetric functions of the odds
///   π/(1 − π), which do not depend on each other. n numbers that can vary freely do not fit
///   continuously into fewer. With n = 2, the chances (½, ½) and (1) both hold a worth of 1, and a
///   sure change later of 1.75 and 2.
/// - *More than constantly many operations are needed.* Three worths in a row give P(N = n−1), and
///   so the elementary symmetric function of degree n−1 of all odds. Of t of them it takes on the
///   order of t log n multiplications when t ≥ 2n (Baur & Strassen 1983), log n for each instant.
///
/// Fast multiplication of polynomials would come close to log n, but is slower for windows that
/// pages have. Parts that make no difference in 20 digits are left out, so pages that change rarely
/// have few.
#[derive(Clone, Debug)]
pub struct Pending(State);

#[derive(Clone, Debug)]
enum State {
    Sum(Sum),
    Counted(Counted),
    Window(Box<Window>),
    CountedWindow(Box<CountedWindow>),
}

impl Pending {
    /// Creates the state of a page that was just fetched.
    #[must_use]
    pub fn new(life: Life, urgency: Urgency) -> Self {
        let (kept, urgent) = match urgency {
            Urgency::Uniform => (1.0, u32::MAX),
            Urgency::Decay(kept) => (kept.get(), u32::MAX),
            Urgency::Window(instants) => (1.0, instants),
        };
        let (there, changes) = match life {
            Life::Append => (u32::MAX, u32::MAX),
            Life::Window(instants) => (instants, u32::MAX),
            Life::Changes(changes) => (u32::MAX, changes.get()),
            Life::Overwrite => (u32::MAX, 1),
        };
        let fade = Fade { kept, overwritten: f64::from(u8::from(changes == 1)) };
        // A window longer than the longest epoch is unlimited.
        let state = match (urgent.min(there), changes) {
            // A change that counts in its own instant only needs a single number.
            (0, _) => State::Sum(Sum::new(Fade { kept: 0.0, ..fade })),
            _ if kept == 0.0 => State::Sum(Sum::new(fade)),
            (u32::MAX, 1 | u32::MAX) => State::Sum(Sum::new(fade)),
            (u32::MAX, changes) => State::Counted(Counted::new(changes, kept)),
            // A window cannot contain more changes than instants.
            (instants, changes) if changes == 1 || changes > instants => {
                State::Window(Box::new(Window::new(instants, fade)))
            }
            // The window of changes is the life, so the window of time is the urgency, and there is no decay.
            (instants, changes) => {
                State::CountedWindow(Box::new(CountedWindow::new(changes, instants)))
            }
        };
        Self(state)
    }

    /// Advances by an instant in which the page changes with the given probability. Returns the worth of a fetch in
    /// it.
    pub fn advance(&mut self, chance: Share) -> f64 {
        self.pass(chance.get())
    }

    /// As [`advance`](Self::advance), for a validated probability.
    #[inline]
    pub(crate) fn pass(&mut self, chance: f64) -> f64 {
        match &mut self.0 {
            State::Sum(sum) => sum.pass(chance),
            State::Counted(counted) => counted.pass(chance),
            State::Window(window) => window.pass(chance),
            State::CountedWindow(window) => window.pass(chance),
        }
    }

    /// Returns the expected worth of a fetch in the present instant, per unit of weight.
    #[must_use]
    pub fn worth(&self) -> f64 {
        match &self.0 {
            State::Sum(sum) => sum.worth,
            State::Counted(counted) => counted.worth(),
            State::Window(window) => window.worth(),
            State::CountedWindow(window) => window.worth(),
        }
    }

    /// Records a fetch: all pending changes are captured or expired.
    pub fn fetch(&mut self) {
        match &mut self.0 {
            State::Sum(sum) => sum.worth = 0.0,
            State::Counted(counted) => counted.clear(),
            State::Window(window) => window.clear(),
            State::CountedWindow(window) => window.clear(),
        }
    }
}

/// Update of a pending worth per instant: the share that urgency keeps, and the share that a
/// change overwrites.
#[derive(Clone, Copy, Debug)]
struct Fade {
    kept: f64,
    /// 1 if a change overwrites what was there, else 0.
    overwritten: f64,
}

impl Fade {
    #[inline]
    fn left(self, chance: f64) -> f64 {
        self.kept * (1.0 - self.overwritten * chance)
    }
}

/// One number: g ← r(1 − oπ)g + π.
#[derive(Clone, Debug)]
struct Sum {
    fade: Fade,
    worth: f64,
}

impl Sum {
    fn new(fade: Fade) -> Self {
        Self { fade, worth: 0.0 }
    }

    #[inline]
    fn pass(&mut self, chance: f64) -> f64 {
        self.worth = settled(self.fade.left(chance) * self.worth + chance);
        self.worth
    }
}
