//! Problems that freshet cannot fix by itself.

use freshet_daemon::{DaemonStatus, Millis};
use freshet_model::time_format;
use freshet_store::{Reader, SourceQuery, SourceState, StoreError};

use crate::app::App;
use crate::problem::Problem;
use crate::web::format;

/// Consecutive failures from which on a source needs attention.
const MIN_FAILURES: u32 = 5;
/// Sources examined per state.
const MAX_EXAMINED: usize = 200;
/// Sources named per item.
const MAX_NAMED: usize = 3;
/// Destinations listed.
const MAX_DESTINATIONS: usize = 5;

/// A problem that a person has to solve.
pub(super) struct AttentionItem {
    pub(super) title: String,
    pub(super) detail: String,
    pub(super) link: String,
    pub(super) action: &'static str,
}

pub(super) async fn attention_items(
    app: &App,
    status: &DaemonStatus,
    now: Millis,
) -> Result<Vec<AttentionItem>, Problem> {
    let mut items = Vec::new();
    if let Some(store_error) = &status.write_error {
        items.push(AttentionItem {
            title: "The database cannot be written".to_owned(),
            detail: store_error.clone(),
            link: "/v1/status".to_owned(),
            action: "View status",
        });
    }
    let found = app.read(move |reader| {
        let mut items = failing_destinations(reader, now)?;
        items.extend(unfetchable_sources(reader)?);
        Ok(items)
    });
    items.extend(found.await?);
    Ok(items)
}

/// Returns the number of sources whose last fetch failed, was refused or found them gone.
pub(super) fn count_unfetchable(reader: &Reader) -> Result<u64, StoreError> {
    let count =
        |state| reader.count_sources(&SourceQuery { state: Some(state), ..SourceQuery::default() });
    Ok(count(SourceState::Failing)? + count(SourceState::Gone)? + count(SourceState::Disallowed)?)
}

fn failing_destinations(reader: &Reader, now: Millis) -> Result<Vec<AttentionItem>, StoreError> {
    let destinations = reader.destinations()?;
    let failing = destinations.into_iter().filter(|it| it.error.is_some());
    let items = failing.take(MAX_DESTINATIONS).map(|it| AttentionItem {
        title: format!("Notification {} fails", it.name),
        detail: format!(
            "{}{}",
            it.error.unwrap_or_default(),
            match it.retry_at {
                _ if it.paused => "; paused".to_owned(),
                Some(next) =>
                    format!("; next attempt {}", time_format::format_relative(next.max(now), now)),
                None => String::new(),
            }
        ),
        link: "/settings#destinations".to_owned(),
        action: "View notifications",
    });
    Ok(items.collect())
}

fn unfetchable_sources(reader: &Reader) -> Result<Vec<AttentionItem>, StoreError> {
    let mut items = Vec::new();
    let states = [
        (SourceState::Failing, "failing", "keeps failing", "keep failing"),
        (SourceState::Gone, "gone", "is gone", "are gone"),
        (
            SourceState::Disallowed,
            "disallowed",
            "is disallowed by robots.txt",
            "are disallowed by robots.txt",
        ),
    ];
    for (state, name, one, many) in states {
        let query =
            SourceQuery { state: Some(state), limit: MAX_EXAMINED, ..SourceQuery::default() };
        let found = reader.list_sources(&query)?;
        let has_more = found.next_after.is_some();
        let affected: Vec<_> = found
            .sources
            .into_iter()
            .filter(|it| state != SourceState::Failing || it.failures >= MIN_FAILURES)
            .collect();
        if affected.is_empty() {
            continue;
        }
        let count = affected.len() as u64;
        let prefix = if has_more { "More than " } else { "" };
        let sources = format::plural(count, "source", "sources");
        let named: Vec<_> = affected.iter().take(MAX_NAMED).map(|it| it.url.as_str()).collect();
        items.push(AttentionItem {
            title: format!("{prefix}{sources} {}", if count == 1 { one } else { many }),
            detail: named.join(", "),
            link: format!("/sources?state={name}"),
            action: "View sources",
        });
    }
    Ok(items)
}
