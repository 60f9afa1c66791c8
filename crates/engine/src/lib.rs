//! Events in; fetches out. One loop that learns, prices and decides, driven by the caller: it has no
//! clock, does no input or output, and the same events give the same actions.

mod bucket;
mod engine;
mod event;
mod host;
mod price;
mod settings;
mod source;

pub use engine::Engine;
pub use event::{Action, Blame, Event, Outcome, Reason};
pub use settings::Settings;
pub use source::Description;
