//! Finding the source of a URL, with suggestions for a mistyped one.

use freshet_daemon::parse_source_url;
use freshet_store::{Reader, SourceQuery};
use strsim::osa_distance;

use crate::commands::add;
use crate::failure::Failure;

/// Maximum number of sources that are compared for a suggestion.
const MAX_CANDIDATES: usize = 2000;
/// Maximum number of characters of a URL that are compared.
const MAX_COMPARED_LEN: usize = 200;
/// Maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 3;

/// Returns the id of the source with a URL.
pub(crate) fn find(reader: &Reader, url: &str) -> Result<u32, Failure> {
    if let Ok((canonical, _)) = parse_source_url(url)
        && let Some(id) = reader.find_source(&canonical)?
    {
        return Ok(id);
    }
    Err(unknown_source(reader, url)?)
}

/// Returns the failure for a URL that is not a source, with suggestions.
pub(crate) fn unknown_source(reader: &Reader, url: &str) -> Result<Failure, Failure> {
    let failure = Failure::new(format!("there is no source {url}"));
    let similar = similar_urls(reader, url)?;
    Ok(match similar[..] {
        [] => match add::canonical_url(url) {
            Ok(_) => {
                failure.with_hint(format!("add it with `freshet add {url}`, or see `freshet ls`"))
            }
            Err(_) => failure.with_hint("see `freshet ls`"),
        },
        _ => failure.with_hint(format!("did you mean {}?", similar.join(" or "))),
    })
}

/// Returns a few URLs of sources that contain this one, or else that differ from it by a few edits.
fn similar_urls(reader: &Reader, url: &str) -> Result<Vec<String>, Failure> {
    let typed = comparable(url);
    let host =
        parse_source_url(url).ok().map(|(_, host)| reader.find_host(&host)).transpose()?.flatten();
    let base = SourceQuery { limit: MAX_CANDIDATES, ..SourceQuery::default() };
    let containing = SourceQuery {
        url_contains: Some(typed.clone()).filter(|text| !text.is_empty()),
        ..base.clone()
    };
    let mut urls: Vec<String> =
        reader.list_sources(&containing)?.sources.into_iter().map(|it| it.url).collect();
    if urls.is_empty() {
        let same_host =
            SourceQuery { hosts: host.map(|host| host.id).into_iter().collect(), ..base };
        let sources = reader.list_sources(&same_host)?.sources;
        urls = closest(&typed, sources.into_iter().map(|it| it.url));
    } else {
        urls.sort();
    }
    urls.truncate(MAX_SUGGESTIONS);
    Ok(urls)
}

/// Returns the URLs that differ from the typed text by at most a fifth of its length, the closest first.
fn closest(typed: &str, urls: impl Iterator<Item = String>) -> Vec<String> {
    let limit = typed.chars().count() / 5;
    let mut near: Vec<(usize, String)> = urls
        .map(|url| (osa_distance(typed, &comparable(&url)), url))
        .filter(|(edits, _)| *edits <= limit)
        .collect();
    near.sort();
    near.into_iter().map(|(_, url)| url).collect()
}

/// The part of a URL that is compared: without its scheme, `www.` and a final slash.
fn comparable(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.strip_prefix("www.").unwrap_or(rest);
    rest.trim_end_matches('/').chars().take(MAX_COMPARED_LEN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_url_is_close_to_its_source_and_other_urls_are_not() {
        let urls =
            ["https://example.com/news", "https://www.example.com/new", "https://other.org/"];
        let closest =
            |typed: &str| closest(&comparable(typed), urls.iter().map(|url| (*url).to_owned()));
        assert_eq!(closest("http://example.com/nwes/"), [urls[0], urls[1]]);
        assert_eq!(closest("exmaple.com/new"), [urls[1], urls[0]]);
        assert!(closest("https://example.org/a-page-of-another-kind").is_empty());
        assert!(closest("x").is_empty());
    }
}
