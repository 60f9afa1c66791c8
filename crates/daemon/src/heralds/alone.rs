//! Heralds while no daemon runs.

use freshet_store::{AddedHerald, Store};

use super::change::{HeraldChange, HeraldError, HeraldWanted, may_go};
use crate::clock::Millis;

/// Has a sitemap or feed read from the next start on; one that is known is described anew.
///
/// # Errors
/// If something in it cannot be meant, or it cannot be written.
pub fn add_herald(
    store: &mut Store,
    wanted: &HeraldWanted,
    now: Millis,
) -> Result<AddedHerald, HeraldError> {
    let change = HeraldChange { add: vec![wanted.check(now)?], ..HeraldChange::default() };
    change.apply(store)?.added.first().copied().ok_or(HeraldError::Stopped)
}

/// Forgets a herald with its parts and what was learnt of it. Gives how many heralds went.
///
/// # Errors
/// If there is none, it would come back by itself, or it cannot be written.
pub fn remove_herald(store: &mut Store, number: u32) -> Result<u64, HeraldError> {
    let herald = store.herald(number)?.ok_or(HeraldError::Unknown(number))?;
    may_go(&herald, |parent| store.herald(parent))?;
    let change = HeraldChange { remove: vec![number], ..HeraldChange::default() };
    Ok(change.apply(store)?.removed.heralds.len() as u64)
}
