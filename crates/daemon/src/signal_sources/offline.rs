//! Heralds while no daemon runs.

use freshet_store::{AddSignalSourceResult, Store};

use super::change::{NewSignalSourceRequest, SignalSourceChange, SignalSourceError, may_go};
use crate::clock::Millis;

/// Has a sitemap or feed read from the next start on; one that is known is described anew.
///
/// # Errors
/// If something in it cannot be meant, or it cannot be written.
pub fn add_herald(
    store: &mut Store,
    wanted: &NewSignalSourceRequest,
    now: Millis,
) -> Result<AddSignalSourceResult, SignalSourceError> {
    let change =
        SignalSourceChange { add: vec![wanted.check(now)?], ..SignalSourceChange::default() };
    change.apply(store)?.added.first().copied().ok_or(SignalSourceError::Stopped)
}

/// Forgets a herald with its parts and what was learnt of it. Gives how many heralds went.
///
/// # Errors
/// If there is none, it would come back by itself, or it cannot be written.
pub fn remove_herald(store: &mut Store, number: u32) -> Result<u64, SignalSourceError> {
    let herald = store.signal_source(number)?.ok_or(SignalSourceError::Unknown(number))?;
    may_go(&herald, |parent| store.signal_source(parent))?;
    let change = SignalSourceChange { remove: vec![number], ..SignalSourceChange::default() };
    Ok(change.apply(store)?.removed.signal_sources.len() as u64)
}
