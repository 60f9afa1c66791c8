//! A document for other commands.

use freshet_fetch::{Content, Fetcher, InvalidSetting, Outcome, RawSettings, Request, Settings};

use crate::commands::fetch::{hint, runtime, summary};
use crate::failure::Failure;

/// What a URL brings, past robots.txt and the guard, which lets through what is allowed besides.
pub(crate) fn document(url: &str, allow: &[String]) -> Result<Content, Failure> {
    let request = Request::new(url).map_err(Failure::new)?;
    let raw = RawSettings { allow: allow.to_vec(), ..RawSettings::default() };
    let settings: Settings = raw.try_into().map_err(|error: InvalidSetting| Failure::new(error))?;
    let answer = runtime()?.block_on(Fetcher::new(settings).fetch(&request));
    if let Outcome::Content(content) = answer.outcome {
        return Ok(content);
    }
    let way_out = hint(&answer).unwrap_or(format!("`freshet fetch {url}` shows the whole outcome"));
    Err(Failure::new(format!("cannot fetch {url}: {}", summary::outcome(&answer))).hint(way_out))
}
