//! Fetch rates per slot in; an order of fetches out, one decision per slot. Reads no clock and knows no
//! estimates and no prices; the caller passes the random number generator.
//!
//! Every sequence is an iterator. Sequences in slots return `Some(source)`, or `None` for an idle slot,
//! and never end. Sequences in continuous time return a [`Fetch`]; [`InSlots`] converts them to slots.
//!
//! | Policy | Type | Property |
//! | --- | --- | --- |
//! | fixed order | [`FixedOrder`] | all intervals of a source are equal |
//! | random order | [`RandomOrder`] | each round is a random permutation |
//! | purely random | [`PurelyRandom`], [`PoissonTimes`] | memoryless |
//! | earliest deadline first | [`EarliestDeadline`] | never a whole fetch ahead or behind |
//! | golden ratio | [`GoldenRatio`] | at most three different intervals per source |
//! | greedy by value | [`Greedy`] | always the fetch with the highest value |
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

mod sequence_stats;

mod due_queue;

pub use due_queue::DueQueue;
pub use earliest_deadline::EarliestDeadline;
pub use error::ScheduleError;
pub use fixed_order::{Fetch, FixedOrder};
pub use golden_ratio::GoldenRatio;
pub use greedy::{FetchValue, Greedy};
pub use in_slots::InSlots;
pub use purely_random::{PoissonTimes, PurelyRandom};
pub use random_order::RandomOrder;
pub use rates::Rates;
pub use sequence_stats::{SequenceStats, SourceSpacing};
