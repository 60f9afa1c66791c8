//! Changes to whom the daemon tells of changes: the same with a daemon and without one. What stands in
//! the settings of a destination is for others to check.

use freshet_store::{Destination, Store, StoreError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::clock::Millis;

/// A change to destinations.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DestinationEdit {
    /// A new one. Gives its number.
    Make {
        /// What its owner calls it.
        name: String,
        /// Where, what and how.
        settings: String,
        /// It is told of what comes after this cursor; of what comes from now on if none is given.
        after: Option<i64>,
    },
    /// Other settings for one, if nobody else has changed them meanwhile. Gives its number.
    Change {
        /// Which.
        id: u32,
        /// The settings.
        settings: String,
        /// What they were.
        before: String,
    },
    /// Another key for one, if nobody else has changed it meanwhile: what is under way stays as it is.
    /// Gives its number.
    Rekey {
        /// Which.
        id: u32,
        /// The settings.
        settings: String,
        /// What they were.
        before: String,
    },
    /// Leave one alone for the time being, or not. Gives its number.
    Pause {
        /// Which.
        id: u32,
        /// Whether.
        paused: bool,
    },
    /// Forget one and what could not be delivered to it. Gives its number.
    Remove {
        /// Which.
        id: u32,
    },
    /// A delivery that was given up has arrived all the same. Gives how many there were.
    Redelivered {
        /// Which.
        dead: i64,
    },
    /// Forget deliveries that were given up. Gives how many there were.
    Unbury {
        /// Which.
        dead: Vec<i64>,
    },
}

/// Which destination an edit is about.
pub(crate) enum Changed {
    /// This one.
    One(u32),
    /// One that has no number yet.
    New,
    /// Any.
    Any,
}

impl DestinationEdit {
    pub(crate) fn id(&self) -> Changed {
        match self {
            Self::Make { .. } => Changed::New,
            Self::Change { id, .. }
            | Self::Rekey { id, .. }
            | Self::Pause { id, .. }
            | Self::Remove { id } => Changed::One(*id),
            Self::Unbury { .. } | Self::Redelivered { .. } => Changed::Any,
        }
    }
}

/// Why destinations stay as they are.
#[derive(Debug, Error)]
pub enum DestinationError {
    /// There is one of this name.
    #[error("there is a destination `{0}` already")]
    Taken(String),
    /// There is none of this number.
    #[error("there is no destination {0}")]
    Missing(u32),
    /// Somebody else was faster.
    #[error("destination {0} was changed by somebody else just now")]
    Changed(u32),
    /// The store says no.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// Nobody is there.
    #[error("the daemon has stopped")]
    Stopped,
}

impl DestinationError {
    /// The way out, if there is one to name.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Taken(_) => Some("`freshet notify set` changes it".to_owned()),
            Self::Changed(_) => Some("look at it and try again".to_owned()),
            Self::Store(error) => error.hint(),
            Self::Missing(_) | Self::Stopped => None,
        }
    }
}

/// Makes a change to destinations.
///
/// # Errors
/// If it cannot be done.
pub fn edit_destination(
    store: &mut Store,
    edit: &DestinationEdit,
    now: Millis,
) -> Result<u64, DestinationError> {
    match edit {
        DestinationEdit::Make { name, settings, after } => {
            if store.find_destination(name)?.is_some() {
                return Err(DestinationError::Taken(name.clone()));
            }
            let cursor = match after {
                Some(after) => *after,
                None => store.last_cursor()?,
            };
            Ok(store.upsert_destination(name, settings, cursor, now)?.into())
        }
        DestinationEdit::Change { id, settings, before } => {
            let it = find(store, *id)?;
            if it.settings != *before {
                return Err(DestinationError::Changed(*id));
            }
            Ok(store.upsert_destination(&it.name, settings, it.cursor, now)?.into())
        }
        DestinationEdit::Rekey { id, settings, before } => {
            if find(store, *id)?.settings != *before {
                return Err(DestinationError::Changed(*id));
            }
            store.set_destination_settings(*id, settings)?;
            Ok((*id).into())
        }
        DestinationEdit::Pause { id, paused } => {
            match store.set_destination_paused(*id, *paused, now)? {
                true => Ok((*id).into()),
                false => Err(DestinationError::Missing(*id)),
            }
        }
        DestinationEdit::Remove { id } => match store.remove_destination(*id)? {
            true => Ok((*id).into()),
            false => Err(DestinationError::Missing(*id)),
        },
        DestinationEdit::Redelivered { dead } => Ok(store.complete_redelivery(*dead, now)?.into()),
        DestinationEdit::Unbury { dead } => Ok(store.remove_dead_letters(dead)? as u64),
    }
}

fn find(store: &Store, id: u32) -> Result<Destination, DestinationError> {
    store.destination(id)?.ok_or(DestinationError::Missing(id))
}

/// Settings hold secrets: they are not shown.
impl std::fmt::Debug for DestinationEdit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Make { name, .. } => write!(f, "Make({name})"),
            Self::Change { id, .. } => write!(f, "Change({id})"),
            Self::Rekey { id, .. } => write!(f, "Rekey({id})"),
            Self::Pause { id, paused } => write!(f, "Pause({id}, {paused})"),
            Self::Remove { id } => write!(f, "Remove({id})"),
            Self::Redelivered { dead } => write!(f, "Redelivered({dead})"),
            Self::Unbury { dead } => write!(f, "Unbury({dead:?})"),
        }
    }
}
