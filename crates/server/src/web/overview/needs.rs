//! What freshet cannot mend by itself.

use freshet_daemon::{Millis, Status};
use freshet_model::moment;
use freshet_store::{Query, Reader, State, StoreError};

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
    let count = |state| reader.count(&Query { state: Some(state), ..Query::default() });
    Ok(count(State::Failing)? + count(State::Gone)? + count(State::Disallowed)?)
}

fn destinations(reader: &Reader, now: Millis) -> Result<Vec<Need>, StoreError> {
    let rows = reader.destinations()?;
    let wrong = rows.into_iter().filter(|it| it.error.is_some());
    let wrong = wrong.take(TOLD).map(|it| Need {
        what: format!("{} is not told", it.name),
        detail: format!(
            "{}{}",
            it.error.unwrap_or_default(),
            match it.next {
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
        (State::Failing, "failing", "keeps failing", "keep failing"),
        (State::Gone, "gone", "is gone", "are gone"),
        (State::Disallowed, "disallowed", "may not be fetched", "may not be fetched"),
    ];
    for (state, name, one, many) in kinds {
        let query = Query { state: Some(state), limit: LOOKED, ..Query::default() };
        let found = reader.list(&query)?;
        let is_more = found.next.is_some();
        let bad = found.sources.into_iter();
        let bad: Vec<_> =
            bad.filter(|it| state != State::Failing || it.failures >= FAILURES).collect();
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
