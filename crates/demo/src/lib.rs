//! A seed in; a small web on loopback with known change times, and the true freshness of
//! the copies of three clients out. Two clients are in this crate: equal polling and Nutch's rule.
//! The caller provides the third, freshet. Opens no file and no terminal: output goes to
//! a writer.

mod clock;
mod error;
mod seed;

mod changes;
mod mix;
mod world;

mod truth;

mod faults;
mod page;
mod words;

mod answer;
mod server;
mod site;

mod allowance;
mod hosts;
mod poller;
mod rule;
mod terms;

mod finished;
mod options;
mod run;
mod score;
mod show;

pub use clock::Clock;
pub use error::DemoError;
pub use finished::{Finished, Ordering};
pub use options::Options;
pub use rule::{Equal, Nutch, Rule, Seen};
pub use run::{Assignment, Source, run};
pub use score::{nutch_scale, score, simulated};
pub use server::Server;
pub use show::{Show, Style};
pub use site::Site;
pub use terms::Terms;
pub use truth::{Client, Fetched, Standing, Tally, Truth, Version};
pub use world::{Window, World};
