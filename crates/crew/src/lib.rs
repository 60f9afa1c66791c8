//! Fetch rate, processing rate and queue capacity in; number of fetchers out (Liu & Nain 2006, §1.2).
//! Reads no clock and knows no fetchers and no pages.
//!
//! Two solutions for the cost γ × (share of time starved) + (pages lost per unit of time):
//!
//! - a fixed number, from the M/M/1/K queue: [`best_fixed`];
//! - a [`Policy`] that decides at each arrival and departure whether to start one more fetcher, by the number of
//!   waiting pages: [`solve`], with a proven bound on the distance from the optimum.
//!
//! ```
//! use freshet_crew::{Setting, best_fixed, solve};
//!
//! // A fetcher brings a page in 20 units of time, one is processed in 1, and ten may wait.
//! let setting = Setting::new(0.05, 1.0, 10, 1.2)?;
//! let fixed = best_fixed(&setting, None)?;
//! assert_eq!(fixed.fetchers, 20);
//!
//! let dynamic = solve(&setting, None)?;
//! assert!(dynamic.measures.cost < 0.41 * fixed.cost);
//! assert!(dynamic.gap < 1e-12);
//! // Two pages wait and 25 fetchers are active: one more. With 29 active: no.
//! assert!(dynamic.policy.starts(2, 25));
//! assert!(!dynamic.policy.starts(2, 29));
//! # Ok::<(), freshet_crew::CrewError>(())
//! ```

mod error;
mod setting;

mod fixed;

mod evaluate;
mod policy;
mod solve;

mod bound;
mod chain;
mod excursion;
mod passage;
mod passages;
mod stairs;
mod values;

mod value_iteration;

pub use error::CrewError;
pub use evaluate::{Measures, evaluate};
pub use fixed::{Fixed, best_fixed, best_load, fixed, large_buffer_rule};
pub use policy::{Event, Policy};
pub use setting::Setting;
pub use solve::{Dynamic, solve, solve_watched};
pub use value_iteration::{Iterated, Iteration, value_iteration};
