//! From a URL to its source, or to one that may have been meant.

use freshet_daemon::host_of;
use freshet_store::{Reader, SourceQuery};

use crate::commands::add;
use crate::failure::Failure;

/// Sources that are looked through for one that may have been meant.
const LOOKED_AT: usize = 2000;
/// Letters of a URL that are compared.
const COMPARED: usize = 200;

/// The number of the source with a URL.
pub(crate) fn find(reader: &Reader, url: &str) -> Result<u32, Failure> {
    if let Ok((canonical, _)) = host_of(url)
        && let Some(id) = reader.find_source(&canonical)?
    {
        return Ok(id);
    }
    Err(unknown(reader, url)?)
}

/// There is no such source; perhaps another one is meant.
pub(crate) fn unknown(reader: &Reader, url: &str) -> Result<Failure, Failure> {
    let failure = Failure::new(format!("there is no source {url}"));
    let near = near(reader, url)?;
    Ok(match near[..] {
        [] => match add::canonical(url) {
            Ok(_) => failure.hint(format!("add it with `freshet add {url}`, or see `freshet ls`")),
            Err(_) => failure.hint("see `freshet ls`"),
        },
        _ => failure.hint(format!("perhaps {} is meant", near.join(" or "))),
    })
}

/// At most three URLs that differ little from this one, or hold it.
fn near(reader: &Reader, url: &str) -> Result<Vec<String>, Failure> {
    let plain = |url: &str| -> Vec<char> {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let rest = rest.strip_prefix("www.").unwrap_or(rest);
        rest.trim_end_matches('/').chars().take(COMPARED).collect()
    };
    let wanted = plain(url);
    let host = host_of(url).ok().map(|(_, host)| reader.find_host(&host)).transpose()?.flatten();
    let text: String = wanted.iter().collect();
    let whole = SourceQuery { limit: LOOKED_AT, ..SourceQuery::default() };
    let queries = [
        SourceQuery { text: Some(text).filter(|text| !text.is_empty()), ..whole.clone() },
        SourceQuery { hosts: host.map(|host| host.id).into_iter().collect(), ..whole },
    ];
    let mut found: Vec<(usize, String)> = Vec::new();
    for (place, query) in queries.into_iter().enumerate() {
        for source in reader.list_sources(&query)?.sources {
            let other = plain(&source.url);
            let edits = if place == 0 { 0 } else { distance(&wanted, &other) };
            if edits <= wanted.len() / 5 {
                found.push((edits, source.url));
            }
        }
        if !found.is_empty() {
            break;
        }
    }
    found.sort();
    found.dedup();
    Ok(found.into_iter().take(3).map(|(_, url)| url).collect())
}

/// Insertions, deletions and substitutions between two texts.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, right) in b.iter().enumerate() {
            let above = row[j + 1];
            let changed = corner + usize::from(left != right);
            row[j + 1] = changed.min(above + 1).min(row[j] + 1);
            corner = above;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_as_far_apart_as_it_takes_to_edit_them() {
        let distance = |a: &str, b: &str| {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            distance(&letters(a), &letters(b))
        };
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!((distance("", "abc"), distance("abc", "abc")), (3, 0));
    }
}
