//! Edits to notification destinations, with or without a daemon. The notify crate validates the
//! settings.

use freshet_store::{Destination, Store, StoreError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::clock::Millis;

/// An edit to notification destinations.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DestinationEdit {
    /// Create a destination. Yields its id.
    #[serde(rename = "make")]
    Create {
        /// Name given by the user.
        name: String,
        /// Channel, filter and other settings, as JSON.
        settings: String,
        /// Deliver changes after this cursor; changes from now on if `None`.
        after: Option<i64>,
    },
    /// Replace the settings, unless they have changed since they were read. Yields the id.
    #[serde(rename = "change")]
    Update {
        /// Destination id.
        id: u32,
        /// New settings.
        settings: String,
        /// Settings as they were read.
        #[serde(rename = "before")]
        expected_settings: String,
    },
    /// Replace the signing key, unless the settings have changed since they were read. Deliveries
    /// in progress are not affected. Yields the id.
    #[serde(rename = "rekey")]
    RotateKey {
        /// Destination id.
        id: u32,
        /// New settings.
        settings: String,
        /// Settings as they were read.
        #[serde(rename = "before")]
        expected_settings: String,
    },
    /// Pause or resume deliveries. Yields the id.
    #[serde(rename = "pause")]
    SetPaused {
        /// Destination id.
        id: u32,
        /// True to pause.
        paused: bool,
    },
    /// Remove a destination and its dead letters. Yields the id.
    Remove {
        /// Destination id.
        id: u32,
    },
    /// Remove a dead letter that has been delivered after all. Yields the number removed.
    #[serde(rename = "redelivered")]
    CompleteRedelivery {
        /// Dead letter id.
        #[serde(rename = "dead")]
        dead_letter: i64,
    },
    /// Remove dead letters. Yields the number removed.
    #[serde(rename = "unbury")]
    RemoveDeadLetters {
        /// Dead letter ids.
        #[serde(rename = "dead")]
        dead_letters: Vec<i64>,
    },
}

/// Destination that an edit affects.
pub(crate) enum ChangedDestination {
    /// The destination with this id.
    One(u32),
    /// A new destination.
    New,
    /// Any destination.
    Any,
}

impl DestinationEdit {
    pub(crate) fn changed_destination(&self) -> ChangedDestination {
        match self {
            Self::Create { .. } => ChangedDestination::New,
            Self::Update { id, .. }
            | Self::RotateKey { id, .. }
            | Self::SetPaused { id, .. }
            | Self::Remove { id } => ChangedDestination::One(*id),
            Self::RemoveDeadLetters { .. } | Self::CompleteRedelivery { .. } => {
                ChangedDestination::Any
            }
        }
    }
}

/// Failure to edit destinations.
#[derive(Debug, Error)]
pub enum DestinationError {
    /// The name is in use.
    #[error("destination `{0}` already exists")]
    NameTaken(String),
    /// No such destination.
    #[error("there is no destination {0}")]
    NotFound(u32),
    /// The settings have changed since they were read.
    #[error("destination {0} was changed concurrently")]
    Conflict(u32),
    /// Store error.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The daemon has stopped.
    #[error("the daemon has stopped")]
    Stopped,
}

impl DestinationError {
    /// Returns a hint on how to fix the error, if any.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NameTaken(_) => {
                Some("choose another name, or change it with `freshet notify set`".to_owned())
            }
            Self::Conflict(_) => Some("review the new settings and try again".to_owned()),
            Self::Store(error) => error.hint(),
            Self::NotFound(_) | Self::Stopped => None,
        }
    }
}

/// Applies an edit to notification destinations.
///
/// # Errors
/// Returns [`DestinationError`] if the edit fails; nothing has changed then.
pub fn apply_destination_edit(
    store: &mut Store,
    edit: &DestinationEdit,
    now: Millis,
) -> Result<u64, DestinationError> {
    match edit {
        DestinationEdit::Create { name, settings, after } => {
            if store.find_destination(name)?.is_some() {
                return Err(DestinationError::NameTaken(name.clone()));
            }
            let cursor = match after {
                Some(after) => *after,
                None => store.last_cursor()?,
            };
            Ok(store.upsert_destination(name, settings, cursor, now)?.into())
        }
        DestinationEdit::Update { id, settings, expected_settings: before } => {
            let it = find_destination(store, *id)?;
            if it.settings != *before {
                return Err(DestinationError::Conflict(*id));
            }
            Ok(store.upsert_destination(&it.name, settings, it.cursor, now)?.into())
        }
        DestinationEdit::RotateKey { id, settings, expected_settings: before } => {
            if find_destination(store, *id)?.settings != *before {
                return Err(DestinationError::Conflict(*id));
            }
            store.set_destination_settings(*id, settings)?;
            Ok((*id).into())
        }
        DestinationEdit::SetPaused { id, paused } => {
            match store.set_destination_paused(*id, *paused, now)? {
                true => Ok((*id).into()),
                false => Err(DestinationError::NotFound(*id)),
            }
        }
        DestinationEdit::Remove { id } => match store.remove_destination(*id)? {
            true => Ok((*id).into()),
            false => Err(DestinationError::NotFound(*id)),
        },
        DestinationEdit::CompleteRedelivery { dead_letter: dead } => {
            Ok(store.complete_redelivery(*dead, now)?.into())
        }
        DestinationEdit::RemoveDeadLetters { dead_letters: dead } => {
            Ok(store.remove_dead_letters(dead)? as u64)
        }
    }
}

fn find_destination(store: &Store, id: u32) -> Result<Destination, DestinationError> {
    store.destination(id)?.ok_or(DestinationError::NotFound(id))
}

/// Omits the settings, which contain secrets.
impl std::fmt::Debug for DestinationEdit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Create { name, .. } => write!(f, "Create({name})"),
            Self::Update { id, .. } => write!(f, "Update({id})"),
            Self::RotateKey { id, .. } => write!(f, "RotateKey({id})"),
            Self::SetPaused { id, paused } => {
                write!(f, "SetPaused({id}, {paused})")
            }
            Self::Remove { id } => write!(f, "Remove({id})"),
            Self::CompleteRedelivery { dead_letter: dead } => {
                write!(f, "CompleteRedelivery({dead})")
            }
            Self::RemoveDeadLetters { dead_letters: dead } => {
                write!(f, "RemoveDeadLetters({dead:?})")
            }
        }
    }
}
