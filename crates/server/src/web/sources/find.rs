//! Which sources are shown, in which order. However many there are, a page takes a moment: what would take
//! longer is looked for in part, and the page says so.

use std::sync::Arc;
use std::time::Duration;

use freshet_daemon::host_filter;
use freshet_store::{Reader, SourceQuery, SourceState, StoreError};
use tokio::time::Instant;

use crate::app::App;
use crate::problem::Problem;
use crate::ranking::{Column, Common, Order, Rank};

/// Sources of a page.
const PAGE: usize = 50;
/// Sources of a host, a tag or a rare state that are put in order.
const ORDERED: usize = 200_000;
/// Numbers that are looked through for one page, some at a time, and for how long.
const LOOKED: u32 = 1_000_000;
const STRIDE: u32 = 10_000;
const PATIENCE: Duration = Duration::from_millis(80);

/// What sources are to be like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) host: Option<String>,
    pub(super) tag: Option<String>,
    pub(super) state: Option<Wish>,
    pub(super) text: Option<String>,
}

/// A state that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Good,
    New,
    Failing,
    Gone,
    Disallowed,
    Paused,
}

impl Wish {
    pub(super) const ALL: [Self; 6] =
        [Self::Good, Self::New, Self::Failing, Self::Gone, Self::Disallowed, Self::Paused];

    /// As it stands in an address.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::New => "new",
            Self::Failing => "failing",
            Self::Gone => "gone",
            Self::Disallowed => "disallowed",
            Self::Paused => "paused",
        }
    }

    /// As people read it.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::New => "never fetched",
            Self::Failing => "failing",
            Self::Gone => "gone",
            Self::Disallowed => "not allowed",
            Self::Paused => "paused",
        }
    }

    fn state(self) -> Option<SourceState> {
        Some(match self {
            Self::Good => SourceState::Good,
            Self::New => SourceState::New,
            Self::Failing => SourceState::Failing,
            Self::Gone => SourceState::Gone,
            Self::Disallowed => SourceState::Disallowed,
            Self::Paused => return None,
        })
    }

    fn common(self) -> Option<Common> {
        match self {
            Self::Good => Some(Common::Good),
            Self::New => Some(Common::New),
            _ => None,
        }
    }
}

impl Filter {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether all that fit can be named by it: by host and tag alone.
    pub(super) fn names_all(&self) -> bool {
        (self.host.is_some() || self.tag.is_some()) && self.state.is_none() && self.text.is_none()
    }

    /// As the store takes it; `None` if there is no such host.
    fn query(&self, reader: &Reader) -> Result<Option<SourceQuery>, StoreError> {
        let Some((hosts, scheme)) = named(reader, self.host.as_deref())? else { return Ok(None) };
        Ok(Some(SourceQuery {
            hosts,
            scheme,
            tag: self.tag.clone(),
            state: self.state.and_then(Wish::state),
            paused: (self.state == Some(Wish::Paused)).then_some(true),
            text: self.text.clone(),
            ..SourceQuery::default()
        }))
    }

    /// Who fits is known from one index, or from the engine.
    fn is_simple(&self) -> bool {
        let parts = [self.host.is_some(), self.tag.is_some(), self.state.is_some()];
        self.text.is_none() && parts.into_iter().filter(|it| *it).count() <= 1
    }
}

/// Hosts, and what their URLs begin with if that matters.
type Hosts = (Vec<u32>, Option<&'static str>);

/// The hosts that are named; `None` if there are no such hosts.
pub(super) fn named(reader: &Reader, name: Option<&str>) -> Result<Option<Hosts>, StoreError> {
    let Some(name) = name else { return Ok(Some((Vec::new(), None))) };
    let Ok(filter) = host_filter(name) else { return Ok(None) };
    let hosts: Vec<u32> = reader.find_hosts(&filter)?.iter().map(|it| it.id).collect();
    Ok((!hosts.is_empty()).then_some((hosts, filter.scheme)))
}

/// Where a page begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The number from which on is looked, where only some are.
    from: u32,
    /// Behind this source.
    after: Option<Rank>,
}

impl Place {
    pub(super) fn is_first(self) -> bool {
        self == Self::default()
    }

    /// As it stands in an address.
    pub(super) fn to_text(self) -> String {
        let after = self.after.map(Rank::to_text).unwrap_or_default();
        format!("{}.{after}", self.from)
    }

    pub(super) fn from_text(text: &str) -> Option<Self> {
        let (from, after) = text.split_once('.')?;
        let after = match after {
            "" => None,
            text => Some(Rank::from_text(text)?),
        };
        Some(Self { from: from.parse().ok()?, after })
    }
}

/// A page of sources.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Their numbers, in order.
    pub(super) ids: Vec<u32>,
    /// How many fit, of those that were looked at.
    pub(super) count: u64,
    /// Whether there may be more that fit.
    pub(super) is_part: bool,
    /// Up to which number was looked, of how many; if only some were.
    pub(super) looked: Option<(u32, u32)>,
    /// The next page.
    pub(super) next: Option<Place>,
    /// Where to look on.
    pub(super) on: Option<Place>,
}

/// Finds a page.
pub(super) async fn find(
    app: &Arc<App>,
    filter: &Filter,
    (order, is_down): (Order, bool),
    place: Place,
) -> Result<Found, Problem> {
    let column = app.web.ranking.column(&app.handle, order).await?;
    let filter = filter.clone();
    app.read(move |reader| {
        let simple = filter.is_simple();
        if simple && filter.host.is_none() && filter.tag.is_none() {
            let common = filter.state.map(Wish::common);
            if let None | Some(Some(_)) = common {
                let ids = column.ids(common.flatten());
                return Ok(cut(&column, ids, is_down, place));
            }
        }
        let Some(query) = filter.query(reader)? else { return Ok(Found::default()) };
        if simple {
            let ids = reader.source_ids(&SourceQuery { limit: ORDERED + 1, ..query })?;
            let is_part = ids.len() > ORDERED;
            let found = cut(&column, ids.into_iter().take(ORDERED), is_down, place);
            return Ok(Found { is_part, ..found });
        }
        look_through(reader, &query, place.from, LOOKED).map(|(ids, until, end)| {
            let mut found = cut(&column, ids.into_iter(), is_down, place);
            if place.from > 0 || until < end {
                (found.is_part, found.looked) = (true, Some((until, end)));
            }
            found.on = (until < end).then_some(Place { from: until, after: None });
            found
        })
    })
    .await
}

fn cut(column: &Column, ids: impl Iterator<Item = u32>, is_down: bool, place: Place) -> Found {
    let (mut ranks, count) = column.first(ids, is_down, place.after, PAGE + 1);
    let has_more = ranks.len() > PAGE;
    ranks.truncate(PAGE);
    let after = ranks.last().copied().filter(|_| has_more);
    Found {
        ids: ranks.into_iter().map(Rank::id).collect(),
        count: count as u64,
        next: after.map(|after| Place { after: Some(after), ..place }),
        ..Found::default()
    }
}

/// The numbers of those that fit from a number on, up to which one was looked, and how many there are.
fn look_through(
    reader: &Reader,
    query: &SourceQuery,
    from: u32,
    most: u32,
) -> Result<(Vec<u32>, u32, u32), StoreError> {
    let (start, end) = (Instant::now(), reader.next_source_id()?);
    let (mut ids, mut at) = (Vec::new(), from);
    while at < end && at - from < most && (at == from || start.elapsed() < PATIENCE) {
        let until = at.saturating_add(STRIDE).min(end);
        ids.extend(reader.source_ids(&SourceQuery {
            after: at.checked_sub(1),
            up_to: Some(until - 1),
            limit: STRIDE as usize,
            ..query.clone()
        })?);
        at = until;
    }
    Ok((ids, at, end))
}

#[cfg(test)]
mod tests {
    use freshet_store::{NewSource, Store};

    use super::*;

    #[test]
    fn what_is_looked_for_in_parts_is_found_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("s.db"), 0).unwrap();
        let source = |n: u32| NewSource::new(format!("https://a.example/{n}-"), "a.example", 0);
        store.import_sources((0..25_000).map(source)).unwrap();
        store.remove_sources(&[9_999]).unwrap();
        let query = SourceQuery { text: Some("9-".to_owned()), ..SourceQuery::default() };
        let (mut found, mut from, mut parts) = (Vec::new(), 0, 0);
        loop {
            let (ids, until, end) = look_through(&store, &query, from, 1).unwrap();
            assert_eq!((end, until > from), (25_000, true));
            found.extend(ids);
            (from, parts) = (until, parts + 1);
            if until == end {
                break;
            }
        }
        let expect = (0..25_000).filter(|n| n % 10 == 9 && *n != 9_999);
        assert_eq!((parts, found), (3, expect.collect::<Vec<u32>>()));
    }

    #[test]
    fn a_place_is_what_it_was_or_none() {
        let after = Some(Rank::new(1.5, 7, true));
        for place in [Place::default(), Place { from: 10_000, after }] {
            assert_eq!(Place::from_text(&place.to_text()), Some(place));
        }
        for text in ["", "1", "x.", "1.1", "1.zzzzzzzzzzzzzzzz", "99999999999."] {
            assert_eq!(Place::from_text(text), None, "{text}");
        }
    }
}
