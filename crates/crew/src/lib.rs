//! tmp
#![allow(missing_docs, dead_code)]
mod error;
mod setting;
mod fixed;
mod policy;
mod chain;
mod stairs;
mod excursion;
mod passage;
mod passages;
mod evaluate;
pub use error::CrewError;
pub use setting::Setting;
pub use fixed::{Fixed, best_fixed, best_load, fixed, large_buffer_rule};
pub use policy::{Event, Policy};
pub use evaluate::{Measures, evaluate};
mod values;
mod bound;
mod solve;
pub use solve::{Dynamic, solve};
