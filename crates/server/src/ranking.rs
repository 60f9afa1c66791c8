//! Sources sorted by values of the engine. The sort keys of all sources are read in small batches
//! and cached for a short time for all users.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use freshet_daemon::{DaemonError, DaemonHandle, SourceSnapshot};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// Maximum age of a column that counts as current, and of one that is still shown while it is
/// renewed.
const FRESH_FOR: Duration = Duration::from_secs(5);
const STALE_FOR: Duration = Duration::from_secs(30);

/// A value that sources are sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SortKey {
    Importance,
    /// Estimated changes per day.
    ChangeRate,
    /// Time of the next fetch.
    NextFetch,
    /// Value of a fetch relative to its price.
    Value,
}

/// Sort position of a source: the sort key, as bits that order like the numbers, and the source
/// id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(u64);

/// A state that most sources share, so that no index helps to find them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommonState {
    New,
    Good,
}

/// Sort keys of all sources at one time.
#[derive(Debug)]
pub(crate) struct SortColumn {
    read_at: Instant,
    /// Sort key by source id; NaN if there is no such source.
    keys: Vec<f32>,
    /// State bits by source id: 1 if new, 2 if good.
    states: Vec<u8>,
}

/// Cached columns, shared by all users.
#[derive(Default)]
pub(crate) struct Ranking {
    columns: [Mutex<Option<Arc<SortColumn>>>; 4],
    /// Day that times are relative to, so that `f32` is precise enough.
    base: OnceLock<f64>,
}

impl Rank {
    pub(crate) fn new(key: f32, id: u32, is_descending: bool) -> Self {
        let bits = key.to_bits();
        let ascending = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
        // Ties are ordered by id in either direction.
        let key = if is_descending { !ascending } else { ascending };
        Self(u64::from(key) << 32 | u64::from(id))
    }

    pub(crate) fn id(self) -> u32 {
        self.0 as u32
    }

    /// Formats the position for a URL.
    pub(crate) fn to_text(self) -> String {
        format!("{:016x}", self.0)
    }

    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let is_plain = text.len() == 16 && text.bytes().all(|it| it.is_ascii_hexdigit());
        is_plain.then(|| u64::from_str_radix(text, 16).ok().map(Self))?
    }
}

impl SortColumn {
    /// Returns the sort key of a source; `None` if the source did not exist when the column was
    /// read.
    pub(crate) fn key(&self, id: u32) -> Option<f32> {
        self.keys.get(id as usize).copied().filter(|key| !key.is_nan())
    }

    /// Returns the ids of all sources, or of those in a state.
    pub(crate) fn ids(&self, state: Option<CommonState>) -> impl Iterator<Item = u32> {
        let bit = match state {
            None => u8::MAX,
            Some(CommonState::New) => 1,
            Some(CommonState::Good) => 2,
        };
        let each = self.keys.iter().zip(&self.states).enumerate();
        each.filter(move |(_, (key, bits))| !key.is_nan() && (state.is_none() || **bits & bit != 0))
            .map(|(id, _)| id as u32)
    }

    /// Returns the first `limit` of some sources after a position, in order, and the number of all
    /// of them.
    pub(crate) fn page(
        &self,
        ids: impl Iterator<Item = u32>,
        is_descending: bool,
        after: Option<Rank>,
        limit: usize,
    ) -> (Vec<Rank>, usize) {
        let mut count = 0;
        let mut ranks: Vec<Rank> = Vec::new();
        let last = if is_descending { f32::NEG_INFINITY } else { f32::INFINITY };
        for id in ids {
            count += 1;
            let rank = Rank::new(self.key(id).unwrap_or(last), id, is_descending);
            if after.is_none_or(|after| rank > after) {
                ranks.push(rank);
            }
        }
        if ranks.len() > limit {
            ranks.select_nth_unstable(limit);
            ranks.truncate(limit);
        }
        ranks.sort_unstable();
        (ranks, count)
    }
}

impl Ranking {
    /// Returns a column that is a few seconds old, or up to half a minute if no one has asked for
    /// it recently.
    pub(crate) async fn column(
        self: &Arc<Self>,
        handle: &DaemonHandle,
        sort_key: SortKey,
    ) -> Result<Arc<SortColumn>, DaemonError> {
        let cached = &self.columns[sort_key as usize];
        if let Ok(held) = cached.try_lock()
            && let Some(column) = held.as_ref()
        {
            let age = column.read_at.elapsed();
            let column = Arc::clone(column);
            if age < FRESH_FOR {
                return Ok(column);
            }
            if age < STALE_FOR {
                drop(held);
                self.renew_in_background(handle, sort_key);
                return Ok(column);
            }
        }
        self.renew(handle, sort_key).await
    }

    /// Reads a column in advance if there is none that can be shown.
    pub(crate) fn prepare(self: &Arc<Self>, handle: &DaemonHandle, sort_key: SortKey) {
        let is_cached = match self.columns[sort_key as usize].try_lock() {
            Ok(held) => held.as_ref().is_some_and(|column| column.read_at.elapsed() < STALE_FOR),
            // It is being read.
            Err(_) => true,
        };
        if !is_cached {
            self.renew_in_background(handle, sort_key);
        }
    }

    fn renew_in_background(self: &Arc<Self>, handle: &DaemonHandle, sort_key: SortKey) {
        let (ranking, handle) = (Arc::clone(self), handle.clone());
        tokio::spawn(async move {
            if let Err(error) = ranking.renew(&handle, sort_key).await {
                tracing::debug!("cannot read the sort keys of the sources: {error}");
            }
        });
    }

    /// Reads the column, unless it was just read.
    async fn renew(
        &self,
        handle: &DaemonHandle,
        sort_key: SortKey,
    ) -> Result<Arc<SortColumn>, DaemonError> {
        // Callers that arrive meanwhile wait for this read.
        let mut held = self.columns[sort_key as usize].lock().await;
        if let Some(column) = held.as_ref().filter(|column| column.read_at.elapsed() < FRESH_FOR) {
            return Ok(Arc::clone(column));
        }
        let column = Arc::new(self.read_all(handle, sort_key).await?);
        *held = Some(Arc::clone(&column));
        Ok(column)
    }

    /// Drops all columns, because sources have been added, changed or removed.
    pub(crate) async fn invalidate(&self) {
        for cached in &self.columns {
            *cached.lock().await = None;
        }
    }

    async fn read_all(
        &self,
        handle: &DaemonHandle,
        sort_key: SortKey,
    ) -> Result<SortColumn, DaemonError> {
        let read_at = Instant::now();
        let base = *self.base.get_or_init(|| freshet_daemon::days_from_millis(handle.now()));
        let (mut batches, mut from) = (Vec::new(), Some(0));
        while let Some(first) = from {
            let snapshots = handle.source_snapshots(first).await?;
            from = snapshots.next_id;
            // The keys are computed on blocking threads while the next batch is read.
            batches.push(tokio::task::spawn_blocking(move || {
                sort_keys(&snapshots.sources, sort_key, base)
            }));
        }
        let (mut keys, mut states) = (Vec::new(), Vec::new());
        for batch in batches {
            for (id, key, state) in batch.await.map_err(|_| DaemonError::Stopped)? {
                let id = id as usize;
                if keys.len() <= id {
                    keys.resize(id + 1, f32::NAN);
                    states.resize(id + 1, 0);
                }
                (keys[id], states[id]) = (key, state);
            }
        }
        Ok(SortColumn { read_at, keys, states })
    }
}

fn sort_keys(snapshots: &[SourceSnapshot], sort_key: SortKey, base: f64) -> Vec<(u32, f32, u8)> {
    let keys = snapshots.iter().map(|it| {
        let key = match sort_key {
            SortKey::Importance => it.importance(),
            SortKey::ChangeRate => it.change_rate(),
            SortKey::NextFetch => it.due_day() - base,
            SortKey::Value => it.relative_value(),
        };
        let key = if key.is_nan() { 0.0 } else { key as f32 };
        (it.id(), key, u8::from(it.is_new()) | u8::from(it.is_healthy()) << 1)
    });
    keys.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(keys: &[f32]) -> SortColumn {
        let states = keys.iter().map(|key| 1 + u8::from(*key > 1.0)).collect();
        SortColumn { read_at: Instant::now(), keys: keys.to_vec(), states }
    }

    fn ids(ranks: &[Rank]) -> Vec<u32> {
        ranks.iter().map(|rank| rank.id()).collect()
    }

    #[test]
    fn pages_are_contiguous_and_ties_are_ordered_by_id() {
        let inf = f32::INFINITY;
        let column = column(&[2.0, f32::NAN, 1.0, inf, 2.0, -3.0, 0.0, 2.0]);
        for (is_descending, expect) in
            [(false, [5, 6, 2, 0, 4, 7, 3]), (true, [3, 0, 4, 7, 2, 6, 5])]
        {
            for limit in 1..=7 {
                let (mut listed, mut after) = (Vec::new(), None);
                loop {
                    let (page, count) = column.page(column.ids(None), is_descending, after, limit);
                    assert_eq!(count, 7);
                    let Some(last) = page.last().copied() else { break };
                    listed.extend(ids(&page));
                    after = Rank::from_text(&last.to_text());
                }
                assert_eq!(listed, expect, "{limit} at a time");
            }
        }
    }

    #[test]
    fn ids_can_be_filtered_by_state() {
        let column = column(&[2.0, f32::NAN, 1.0, 3.0]);
        assert_eq!(column.ids(Some(CommonState::Good)).collect::<Vec<_>>(), [0, 3]);
        assert_eq!(column.ids(Some(CommonState::New)).collect::<Vec<_>>(), [2]);
        // A source that was added since has no key and sorts last.
        let (page, count) = column.page([9, 2, 3].into_iter(), false, None, 10);
        assert_eq!((ids(&page), count), (vec![2, 3, 9], 3));
    }

    #[test]
    fn an_invalid_position_is_refused() {
        for text in ["", "7", "+00000000000000f", "zzzzzzzzzzzzzzzz", "00000000000000000"] {
            assert_eq!(Rank::from_text(text), None, "{text}");
        }
    }
}
