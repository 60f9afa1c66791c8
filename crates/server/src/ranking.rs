//! Sources in order of what the engine thinks of them. What they are ordered by is looked up for all of
//! them in small pieces, and kept for some seconds for all who look.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use freshet_daemon::{DaemonError, Handle, SourceSnapshot};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long a column is as good as new, and how long it is shown while a newer one is made.
const NEW: Duration = Duration::from_secs(5);
const SHOWN: Duration = Duration::from_secs(30);

/// What sources are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Importance,
    /// Changes a day, as far as is believed.
    Belief,
    /// When the next fetch is.
    Next,
    /// What a fetch is worth, in parts of its price.
    Value,
}

/// A source's place: what it is ordered by, as bits that order as the numbers do, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank(u64);

/// Sources that are all in one common state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Common {
    New,
    Good,
}

/// What all sources are ordered by, at a moment.
#[derive(Debug)]
pub(crate) struct Column {
    made: Instant,
    /// By number; what is not a number is no source.
    keys: Vec<f32>,
    /// Bits: 1 if it is new, 2 if it is good.
    states: Vec<u8>,
}

/// The columns, each for all who look.
#[derive(Default)]
pub(crate) struct Ranking {
    columns: [Mutex<Option<Arc<Column>>>; 4],
    /// The day from which on days are counted in columns, so that few digits are enough.
    base: OnceLock<f64>,
}

impl Rank {
    pub(crate) fn new(key: f32, id: u32, is_down: bool) -> Self {
        let bits = key.to_bits();
        let up = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
        // Ties are by number either way.
        let key = if is_down { !up } else { up };
        Self(u64::from(key) << 32 | u64::from(id))
    }

    pub(crate) fn id(self) -> u32 {
        self.0 as u32
    }

    /// As it stands in an address.
    pub(crate) fn to_text(self) -> String {
        format!("{:016x}", self.0)
    }

    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let is_plain = text.len() == 16 && text.bytes().all(|it| it.is_ascii_hexdigit());
        is_plain.then(|| u64::from_str_radix(text, 16).ok().map(Self))?
    }
}

impl Column {
    /// The key of a source; `None` if it was none when this was made.
    pub(crate) fn key(&self, id: u32) -> Option<f32> {
        self.keys.get(id as usize).copied().filter(|key| !key.is_nan())
    }

    /// The numbers of all sources, or of those in a common state.
    pub(crate) fn ids(&self, state: Option<Common>) -> impl Iterator<Item = u32> {
        let bit = match state {
            None => u8::MAX,
            Some(Common::New) => 1,
            Some(Common::Good) => 2,
        };
        let each = self.keys.iter().zip(&self.states).enumerate();
        each.filter(move |(_, (key, is))| !key.is_nan() && (state.is_none() || **is & bit != 0))
            .map(|(id, _)| id as u32)
    }

    /// The first so many of some sources behind a place, in order; and how many there are in all, from
    /// the beginning. Sources without a key come last.
    pub(crate) fn first(
        &self,
        ids: impl Iterator<Item = u32>,
        is_down: bool,
        after: Option<Rank>,
        most: usize,
    ) -> (Vec<Rank>, usize) {
        let mut all = 0;
        let mut ranks: Vec<Rank> = Vec::new();
        let last = if is_down { f32::NEG_INFINITY } else { f32::INFINITY };
        for id in ids {
            all += 1;
            let rank = Rank::new(self.key(id).unwrap_or(last), id, is_down);
            if after.is_none_or(|after| rank > after) {
                ranks.push(rank);
            }
        }
        if ranks.len() > most {
            ranks.select_nth_unstable(most);
            ranks.truncate(most);
        }
        ranks.sort_unstable();
        (ranks, all)
    }
}

impl Ranking {
    /// What sources are ordered by, as it was some seconds ago at most, or half a minute if nobody looked.
    pub(crate) async fn column(
        self: &Arc<Self>,
        handle: &Handle,
        order: Order,
    ) -> Result<Arc<Column>, DaemonError> {
        let place = &self.columns[order as usize];
        if let Ok(held) = place.try_lock()
            && let Some(column) = held.as_ref()
        {
            let age = column.made.elapsed();
            let column = Arc::clone(column);
            if age < NEW {
                return Ok(column);
            }
            if age < SHOWN {
                drop(held);
                self.renew_beside(handle, order);
                return Ok(column);
            }
        }
        self.renew(handle, order).await
    }

    /// Makes a column that takes long before somebody asks for it, if there is none to be shown.
    pub(crate) fn prepare(self: &Arc<Self>, handle: &Handle, order: Order) {
        let is_there = match self.columns[order as usize].try_lock() {
            Ok(held) => held.as_ref().is_some_and(|column| column.made.elapsed() < SHOWN),
            // Somebody makes it now.
            Err(_) => true,
        };
        if !is_there {
            self.renew_beside(handle, order);
        }
    }

    fn renew_beside(self: &Arc<Self>, handle: &Handle, order: Order) {
        let (ranking, handle) = (Arc::clone(self), handle.clone());
        tokio::spawn(async move {
            if let Err(error) = ranking.renew(&handle, order).await {
                tracing::debug!("the sources cannot be put in order: {error}");
            }
        });
    }

    /// Looks at all sources, unless somebody just did.
    async fn renew(&self, handle: &Handle, order: Order) -> Result<Arc<Column>, DaemonError> {
        // Who comes meanwhile waits for this one.
        let mut held = self.columns[order as usize].lock().await;
        if let Some(column) = held.as_ref().filter(|column| column.made.elapsed() < NEW) {
            return Ok(Arc::clone(column));
        }
        let column = Arc::new(self.sweep(handle, order).await?);
        *held = Some(Arc::clone(&column));
        Ok(column)
    }

    /// The sources are not what they were: what is kept does not count any more.
    pub(crate) async fn forget(&self) {
        for place in &self.columns {
            *place.lock().await = None;
        }
    }

    async fn sweep(&self, handle: &Handle, order: Order) -> Result<Column, DaemonError> {
        let made = Instant::now();
        let base = *self.base.get_or_init(|| freshet_daemon::days(handle.now()));
        let (mut pieces, mut from) = (Vec::new(), Some(0));
        while let Some(first) = from {
            let sights = handle.see(first).await?;
            from = sights.next;
            // The calculation goes on beside the loop, on all processors that are free.
            pieces.push(tokio::task::spawn_blocking(move || piece(&sights.each, order, base)));
        }
        let (mut keys, mut states) = (Vec::new(), Vec::new());
        for piece in pieces {
            for (id, key, state) in piece.await.map_err(|_| DaemonError::Stopped)? {
                let id = id as usize;
                if keys.len() <= id {
                    keys.resize(id + 1, f32::NAN);
                    states.resize(id + 1, 0);
                }
                (keys[id], states[id]) = (key, state);
            }
        }
        Ok(Column { made, keys, states })
    }
}

fn piece(sights: &[SourceSnapshot], order: Order, base: f64) -> Vec<(u32, f32, u8)> {
    let each = sights.iter().map(|it| {
        let key = match order {
            Order::Importance => it.importance(),
            Order::Belief => it.rate(),
            Order::Next => it.due() - base,
            Order::Value => it.value(),
        };
        let key = if key.is_nan() { 0.0 } else { key as f32 };
        (it.id(), key, u8::from(it.is_new()) | u8::from(it.is_good()) << 1)
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(keys: &[f32]) -> Column {
        let states = keys.iter().map(|key| 1 + u8::from(*key > 1.0)).collect();
        Column { made: Instant::now(), keys: keys.to_vec(), states }
    }

    fn ids(ranks: &[Rank]) -> Vec<u32> {
        ranks.iter().map(|rank| rank.id()).collect()
    }

    #[test]
    fn pages_follow_each_other_and_ties_are_by_number() {
        let inf = f32::INFINITY;
        let column = column(&[2.0, f32::NAN, 1.0, inf, 2.0, -3.0, 0.0, 2.0]);
        for (is_down, expect) in [(false, [5, 6, 2, 0, 4, 7, 3]), (true, [3, 0, 4, 7, 2, 6, 5])] {
            for most in 1..=7 {
                let (mut told, mut after) = (Vec::new(), None);
                loop {
                    let (page, all) = column.first(column.ids(None), is_down, after, most);
                    assert_eq!(all, 7);
                    let Some(last) = page.last().copied() else { break };
                    told.extend(ids(&page));
                    after = Rank::from_text(&last.to_text());
                }
                assert_eq!(told, expect, "{most} at a time");
            }
        }
    }

    #[test]
    fn some_can_be_asked_for() {
        let column = column(&[2.0, f32::NAN, 1.0, 3.0]);
        assert_eq!(column.ids(Some(Common::Good)).collect::<Vec<_>>(), [0, 3]);
        assert_eq!(column.ids(Some(Common::New)).collect::<Vec<_>>(), [2]);
        // What has come since has no key yet.
        let (page, all) = column.first([9, 2, 3].into_iter(), false, None, 10);
        assert_eq!((ids(&page), all), (vec![2, 3, 9], 3));
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for text in ["", "7", "+00000000000000f", "zzzzzzzzzzzzzzzz", "00000000000000000"] {
            assert_eq!(Rank::from_text(text), None, "{text}");
        }
    }
}
