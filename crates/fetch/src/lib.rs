//! HTTP client of a crawler. A request and settings in; one of six outcomes with its record out. Every
//! request of freshet goes through [`Fetcher::fetch`], which enforces robots.txt, the guard and the
//! limits. Knows no sources and no schedule, and does not interpret content.
//!
//! ```no_run
//! use freshet_fetch::{FetchOutcome, FetchRequest, FetchSettings, Fetcher};
//!
//! # async fn example() -> Result<(), freshet_fetch::InvalidRequest> {
//! let fetcher = Fetcher::new(FetchSettings::default());
//! let first = fetcher.fetch(&FetchRequest::new("https://example.com/")?).await;
//! if let (FetchOutcome::Content(content), Some(validators)) =
//!     (first.outcome, first.trace.validators)
//! {
//!     let old_text = content.text().text.into_owned();
//!     // The second fetch returns content only if it has changed.
//!     let request = FetchRequest::new("https://example.com/")?.with_validators(validators);
//!     let text = match fetcher.fetch(&request).await.outcome {
//!         FetchOutcome::Content(content) => content.text().text.into_owned(),
//!         _ => old_text,
//!     };
//! }
//! # Ok(())
//! # }
//! ```

mod address_kind;
mod body;
mod charset;
mod connect;
mod connection;
mod connection_driver;
mod counted_stream;
mod decode;
mod error;
mod fetch_response;
mod fetcher;
mod glob;
mod guard;
mod headers;
mod http_client;
mod local;
mod request;
mod request_hook;
mod resolve;
mod robots;
mod robots_cache;
mod route;
mod secret;
mod settings;
mod tls;
mod url_pattern;

pub use address_kind::AddressKind;
pub use body::BodySink;
pub use charset::{Charset, CharsetSource, DecodedText};
pub use decode::ContentCoding;
pub use error::{FetchBlame, FetchError, ProtocolFault, ResponsePart, TimeoutPhase, TlsFault};
pub use fetch_response::{
    BodySizes, FetchHop, FetchOutcome, FetchResponse, FetchTrace, FetchedContent, HopTimings,
};
pub use fetcher::Fetcher;
pub use guard::{AddressGuard, AllowEntry, GuardRefusal, InvalidAllowEntry};
pub use headers::{CacheHint, RetryAfter};
pub use request::{FetchRequest, InvalidRequest, Validators};
pub use request_hook::{HookEvent, RequestHook};
pub use robots::{RobotsAgent, RobotsRule, RobotsRules, RobotsTxt, RobotsVerdict};
pub use robots_cache::{RobotsAbsence, RobotsFile, RobotsPermission, RobotsReason};
pub use secret::Secret;
pub use settings::{
    BYTE_SIZE_FORMATS, FetchLimits, FetchSettings, InvalidFetchSetting, RawBasicAuth, RawByteSize,
    RawFetchLimits, RawFetchSettings, RawHeaderValue, RawProxy, RawUrlRule, SecretSource,
    SettingFault, parse_byte_size, parse_duration,
};
pub use url_pattern::{InvalidUrlPattern, UrlPattern};
