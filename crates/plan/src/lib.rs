//! Columns of sources and a budget in; fetch rates and one price out. Reads no clock, file or socket, and starts no
//! threads but rayon's.
//!
//! ```
//! use freshet_model::PerDay;
//! use freshet_plan::{Objective, Options, Sources, solve};
//!
//! // Cho & Garcia-Molina 2003, Table IV (b): five pages that change 1 to 5 times a day, and five
//! // fetches a day for all of them. The page that changes most is not worth fetching.
//! let sources = Sources::new(&[1.0; 5], &[1.0, 2.0, 3.0, 4.0, 5.0])?;
//! let options = Options { objective: Objective::Freshness, ..Options::default() };
//! let plan = solve(&sources, PerDay::new(5.0)?, &options)?;
//! let rounded: Vec<f64> = plan.rates.iter().map(|rate| (rate * 100.0).round() / 100.0).collect();
//! assert_eq!(rounded, [1.15, 1.36, 1.35, 1.14, 0.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod block;
mod evaluate;
mod exponential;
mod hosts;
mod memory;
mod objective;
mod options;
mod pass;
mod plan;
mod price;
mod problem;
mod response;
mod root;
mod series;
mod simd;
mod sketch;
mod solution;
mod sources;
mod target;
mod tracked_sources;

pub use access::{
    AccessError, AccessPlan, AccessTime, access_frequencies, random_access_frequencies,
};
pub use evaluate::{Evaluation, Order, evaluate, values};
pub use objective::{Measure, MeasureForm, Objective};
pub use options::{Observed, Options, Policy, Rule, Timing, UnknownName};
pub use plan::{PlanError, solve, solve_in};

pub use solution::{Gap, HostPrice, Solution, Status};
pub use sources::{Column, InvalidSources, Sources};
pub use target::{InvalidTarget, Target, target};
