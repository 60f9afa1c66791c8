//! Rates in, in fetches per slot; the order of fetches out, one decision per slot. Knows no clock,
//! no estimates and no prices; randomness is a generator that the caller hands over.
//!
//! Every sequence is an iterator. Those in slots give `Some(source)`, or `None` for an idle slot,
//! and never end. Those in continuous time give a [`Fetch`]; [`InSlots`] turns them into slots.
//!
//! | policy | type | what is known of it |
//! | --- | --- | --- |
//! | fixed order | [`FixedOrder`] | every interval of a source is the same |
//! | random order | [`RandomOrder`] | every round is shuffled |
//! | purely random | [`PurelyRandom`], [`PoissonTimes`] | no memory |
//! | earliest deadline first | [`EarliestDeadline`] | never a whole fetch ahead or behind |
//! | golden ratio | [`GoldenRatio`] | three intervals for each source |
//! | greedy by value | [`Greedy`] | always the fetch that is worth most now |
//!
//! ```
//! use freshet_schedule::{EarliestDeadline, Rates};
//!
//! let column = [0.5, 0.25, 0.25];
//! let sequence = EarliestDeadline::new(Rates::new(&column)?);
//! let order: Vec<usize> = sequence.flatten().take(8).collect();
//! assert_eq!(order, [0, 1, 0, 2, 0, 1, 0, 2]);
//! # Ok::<(), freshet_schedule::ScheduleError>(())
//! ```

mod error;
mod rates;

mod fixed_order;
mod in_slots;
mod random_order;

mod alias;
mod purely_random;

mod earliest_deadline;
mod golden_ratio;

mod certificates;
mod greedy;

mod tally;

mod agenda;

pub use agenda::Agenda;
pub use earliest_deadline::EarliestDeadline;
pub use error::ScheduleError;
pub use fixed_order::{Fetch, FixedOrder};
pub use golden_ratio::GoldenRatio;
pub use greedy::{Greedy, Value};
pub use in_slots::InSlots;
pub use purely_random::{PoissonTimes, PurelyRandom};
pub use random_order::RandomOrder;
pub use rates::Rates;
pub use tally::{Spread, Tally};
