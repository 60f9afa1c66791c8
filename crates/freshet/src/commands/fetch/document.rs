//! Fetching of a document for other commands.

use freshet_fetch::{
    FetchOutcome, FetchRequest, FetchSettings, FetchedContent, Fetcher, InvalidFetchSetting,
    RawFetchSettings,
};

use crate::commands::fetch::{hint, runtime, summary};
use crate::failure::Failure;

/// Fetches a URL, obeying robots.txt and the guard with the given exceptions.
pub(crate) fn document(url: &str, allow: &[String]) -> Result<FetchedContent, Failure> {
    let request = FetchRequest::new(url).map_err(Failure::new)?;
    let raw = RawFetchSettings { allow: allow.to_vec(), ..RawFetchSettings::default() };
    let settings: FetchSettings =
        raw.try_into().map_err(|error: InvalidFetchSetting| Failure::new(error))?;
    let answer = runtime()?.block_on(Fetcher::new(settings).fetch(&request));
    if let FetchOutcome::Content(content) = answer.outcome {
        return Ok(content);
    }
    let hint = hint(&answer).unwrap_or(format!("`freshet fetch {url}` shows the details"));
    Err(Failure::new(format!("cannot fetch {url}: {}", summary::outcome(&answer))).with_hint(hint))
}
