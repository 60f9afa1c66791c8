//! A seed in; a small web on loopback out, with known change times, and the truth about how fresh
//! the copies are that three clients keep of it. Two of them are here: equal polling and Nutch's rule.
//! The third is freshet, which the caller brings. Knows no file and no terminal: what is shown goes to
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
