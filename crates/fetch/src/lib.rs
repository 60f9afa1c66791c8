//! A request and settings in; one of six outcomes with its record out. Every request of freshet goes
//! through [`Fetcher::fetch`]: past robots.txt, past the guard, within limits. Knows no sources, no
//! schedule and no meaning of what it brings.
//!
//! ```no_run
//! use freshet_fetch::{Fetcher, Outcome, Request, Settings};
//!
//! # async fn example() -> Result<(), freshet_fetch::InvalidRequest> {
//! let fetcher = Fetcher::new(Settings::default());
//! let first = fetcher.fetch(&Request::new("https://example.com/")?).await;
//! if let (Outcome::Content(content), Some(validators)) = (first.outcome, first.trace.validators) {
//!     let before = content.text().text.into_owned();
//!     // The next time only if it is another.
//!     let again = Request::new("https://example.com/")?.since(validators);
//!     let now = match fetcher.fetch(&again).await.outcome {
//!         Outcome::Content(content) => content.text().text.into_owned(),
//!         _ => before,
//!     };
//! }
//! # Ok(())
//! # }
//! ```

mod body;
mod charset;
mod connect;
mod count;
mod decode;
mod driver;
mod error;
mod exchange;
mod fetcher;
mod glob;
mod guard;
mod headers;
mod link;
mod local;
mod outcome;
mod pattern;
mod permission;
mod request;
mod request_hook;
mod resolve;
mod robots;
mod route;
mod secret;
mod settings;
mod tls;
mod zone;

pub use body::BodySink;
pub use charset::{Charset, CharsetSource, Text};
pub use decode::Coding;
pub use error::{Blame, FetchError, Phase, ProtocolFault, Size, TlsFault};
pub use fetcher::Fetcher;
pub use guard::{Guard, InvalidOpening, Opening, Refusal};
pub use headers::{CacheHint, Wait};
pub use outcome::{Answer, Content, Hop, Outcome, Sizes, Timings, Trace};
pub use pattern::{InvalidPattern, Pattern};
pub use permission::{Absence, Because, Permission, RobotsFile};
pub use request::{InvalidRequest, Request, Validators};
pub use request_hook::{HookEvent, RequestHook};
pub use robots::{Agent, Robots, Rule, Rules, Verdict};
pub use secret::Secret;
pub use settings::{
    InvalidSetting, Limits, RawBasic, RawLimits, RawProxy, RawRule, RawSecret, RawSettings,
    RawSize, RawValue, SIZES, SettingFault, Settings, size, time,
};
pub use zone::Zone;
