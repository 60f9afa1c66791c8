//! The daemon's door for commands of the same machine: a socket beside the store. A line of JSON asks, a
//! line of JSON answers.

mod client;
mod place;
mod server;

use std::path::PathBuf;

use freshet_engine::SignalSourceReport;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::destination::DestinationEdit;
use crate::edit::{Applied, Edit};
use crate::explained::Explained;
use crate::signal_sources::NewSignalSourceRequest;
use crate::status::Status;

pub use client::Client;
pub use place::socket_of;
pub use server::Control;

/// Of what goes through the door.
const VERSION: u32 = 1;
/// Bytes of a line at most.
const LONGEST: u64 = 16 << 20;

/// What a command asks of the daemon.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// How it goes.
    Status,
    /// Why the source with this URL is due when it is.
    Explain(String),
    /// Fetch the source with this URL now.
    Check(String),
    /// Change sources.
    Edit(Edit),
    /// Keep a token, in place of one of the same name.
    PutToken {
        /// What its owner calls it.
        name: String,
        /// SHA-256 of what is shown to the service.
        hash: [u8; 32],
        /// What it allows, as bits.
        scopes: u8,
    },
    /// Forget the token of this name.
    RemoveToken(String),
    /// Change whom it tells.
    Destination(DestinationEdit),
    /// What is known of signal sources by their numbers.
    Heralds(Vec<u32>),
    /// Have a sitemap or feed read.
    AddHerald(Box<NewSignalSourceRequest>),
    /// Forget a signal source, with its parts.
    RemoveHerald(u32),
    /// A turn at a host that is asked from outside.
    Turn {
        /// Its name.
        host: String,
        /// Days between two fetches that its robots.txt asks for.
        delay: Option<f64>,
        /// Days that are waited for it at most.
        patience: f64,
        /// Whether nobody asks again if it is busy.
        last: bool,
    },
    /// What a host said to that.
    Heard {
        /// Its name.
        host: String,
        /// Days that it asked to be left alone.
        rest: Option<f64>,
        /// Whether it is its fault that nothing came.
        failed: bool,
    },
}

/// What the daemon answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// How it goes.
    Status(Box<Status>),
    /// Why a source is due when it is.
    Explained(Box<Explained>),
    /// What an edit did.
    Applied(Applied),
    /// The day from which on a host may be asked; `None` if others are there.
    Turn(Option<f64>),
    /// Whom it tells was changed: the number of the destination, or of letters.
    Destination(u64),
    /// What is known of signal sources, in the order in which they were asked for.
    Heralds(Vec<Option<SignalSourceReport>>),
    /// The number of a signal source, and whether it is new.
    AddedHerald {
        /// Its number.
        number: u32,
        /// Whether it was not known before.
        new: bool,
    },
    /// How many signal sources went.
    RemovedHeralds(u64),
    /// It is done.
    Done,
    /// There was nothing to do.
    Nothing,
    /// It is not done.
    Refused {
        /// Why.
        why: String,
        /// The way out, if there is one to name.
        hint: Option<String>,
    },
}

#[derive(Serialize, Deserialize)]
struct Line<T> {
    version: u32,
    said: T,
}

/// Of a line that may be of another version.
#[derive(Deserialize)]
struct Mark {
    version: u32,
}

/// Why the daemon was not asked, or did not answer.
#[derive(Debug, Error)]
pub enum ControlError {
    /// The socket is there, and not for this user.
    #[error("{}: the daemon of another user", socket.display())]
    Stranger {
        /// The socket.
        socket: PathBuf,
    },
    /// It broke off.
    #[error("{}: the daemon does not answer: {source}", socket.display())]
    Broken {
        /// The socket.
        socket: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It says something that nobody here understands.
    #[error("{}: the daemon is of another version: {found}, not {known}", socket.display())]
    Version {
        /// The socket.
        socket: PathBuf,
        /// What it speaks.
        found: u32,
        /// What is spoken here.
        known: u32,
    },
    /// It says something that makes no sense.
    #[error("{}: the daemon's answer makes no sense: {what}", socket.display())]
    Nonsense {
        /// The socket.
        socket: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// There cannot be a socket.
    #[error("{}: cannot listen there: {source}", socket.display())]
    Unheard {
        /// The socket.
        socket: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

impl ControlError {
    /// The way out, if there is one to name.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Stranger { .. } => Some("run the command as the user that the daemon runs as"),
            Self::Version { .. } => Some("restart the daemon, so that both are of one version"),
            Self::Broken { .. } => Some("see what the daemon's log says"),
            Self::Nonsense { .. } | Self::Unheard { .. } => None,
        }
    }
}
