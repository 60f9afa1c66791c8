//! Edits to signal sources without a daemon.

use freshet_store::{AddSignalSourceResult, Store};

use super::change::{
    NewSignalSourceRequest, SignalSourceChange, SignalSourceError, check_removable,
};
use crate::clock::Millis;

/// Adds a sitemap or feed, to be read from the next start on, or updates an existing one.
///
/// # Errors
/// Returns [`SignalSourceError`] if the request is invalid or cannot be written.
pub fn add_signal_source_offline(
    store: &mut Store,
    request: &NewSignalSourceRequest,
    now: Millis,
) -> Result<AddSignalSourceResult, SignalSourceError> {
    let change = SignalSourceChange {
        add: vec![request.to_new_signal_source(now)?],
        ..SignalSourceChange::default()
    };
    change.apply(store)?.added.first().copied().ok_or(SignalSourceError::Stopped)
}

/// Removes a signal source with its children and what was learned about it. Returns the number of
/// signal sources removed.
///
/// # Errors
/// Returns [`SignalSourceError`] if it does not exist, would be added again, or the change cannot
/// be written.
pub fn remove_signal_source_offline(store: &mut Store, id: u32) -> Result<u64, SignalSourceError> {
    let signal_source = store.signal_source(id)?.ok_or(SignalSourceError::NotFound(id))?;
    check_removable(&signal_source, |parent| store.signal_source(parent))?;
    let change = SignalSourceChange { remove: vec![id], ..SignalSourceChange::default() };
    Ok(change.apply(store)?.removed.signal_sources.len() as u64)
}
