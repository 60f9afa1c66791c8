//! What freshet cannot mend by itself.

use freshet_daemon::{Millis, Status};
use freshet_model::moment;
use freshet_store::{Reader, SourceQuery, SourceState, StoreError};

use crate::app::App;
use crate::problem::Problem;
use crate::web::words;

/// Failures in a row from which on a source is thought to need a person.
const FAILURES: u32 = 5;
/// Sources that are looked at, and how many are named.
const LOOKED: usize = 200;
const NAMED: usize = 3;
/// Destinations that are named.
const TOLD: usize = 5;

/// Something that needs a person.
pub(super) struct Need {
    pub(super) what: String,
    pub(super) detail: String,
    pub(super) link: String,
    pub(super) action: &'static str,
}

pub(super) async fn needs(app: &App, status: &Status, now: Millis) -> Result<Vec<Need>, Problem> {
    let mut needs = Vec::new();
    if let Some(trouble) = &status.trouble {
        needs.push(Need {
            what: "The store cannot be written".to_owned(),
            detail: trouble.clone(),
            link: "/v1/status".to_owned(),
            action: "See the status",
        });
    }
    let found = app.read(move |reader| {
        let mut needs = destinations(reader, now)?;
        needs.extend(sources(reader)?);
        Ok(needs)
    });
    needs.extend(found.await?);
    Ok(needs)
}

/// Sources that could not be fetched when that was tried last.
pub(super) fn lost(reader: &Reader) -> Result<u64, StoreError> {
    let count =
        |state| reader.count_sources(&SourceQuery { state: Some(state), ..SourceQuery::default() });
    Ok(count(SourceState::Failing)? + count(SourceState::Gone)? + count(SourceState::Disallowed)?)
}

fn destinations(reader: &Reader, now: Millis) -> Result<Vec<Need>, StoreError> {
    let rows = reader.destinations()?;
    let wrong = rows.into_iter().filter(|it| it.error.is_some());
    let wrong = wrong.take(TOLD).map(|it| Need {
        what: format!("{} is not told", it.name),
        detail: format!(
            "{}{}",
            it.error.unwrap_or_default(),
            match it.retry_at {
                _ if it.paused => "; it is paused".to_owned(),
                Some(next) => format!("; tried again {}", moment::from_now(next.max(now), now)),
                None => String::new(),
            }
        ),
        link: "/settings#destinations".to_owned(),
        action: "Look at it",
    });
    Ok(wrong.collect())
}

fn sources(reader: &Reader) -> Result<Vec<Need>, StoreError> {
    let mut needs = Vec::new();
    let kinds = [
        (SourceState::Failing, "failing", "keeps failing", "keep failing"),
        (SourceState::Gone, "gone", "is gone", "are gone"),
        (SourceState::Disallowed, "disallowed", "may not be fetched", "may not be fetched"),
    ];
    for (state, name, one, many) in kinds {
        let query = SourceQuery { state: Some(state), limit: LOOKED, ..SourceQuery::default() };
        let found = reader.list_sources(&query)?;
        let is_more = found.next.is_some();
        let bad = found.sources.into_iter();
        let bad: Vec<_> =
            bad.filter(|it| state != SourceState::Failing || it.failures >= FAILURES).collect();
        if bad.is_empty() {
            continue;
        }
        let count = bad.len() as u64;
        let more = if is_more { "more than " } else { "" };
        let sources = words::plural(count, "source", "sources");
        let named: Vec<_> = bad.iter().take(NAMED).map(|it| it.url.as_str()).collect();
        needs.push(Need {
            what: format!("{more}{sources} {}", if count == 1 { one } else { many }),
            detail: named.join(", "),
            link: format!("/sources?state={name}"),
            action: "See which",
        });
    }
    Ok(needs)
}
