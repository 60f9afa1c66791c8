//! Control socket for local commands, beside the store. Each request and each response is one line
//! of JSON.

mod client;
mod server;
mod socket_path;

use std::path::PathBuf;

use freshet_engine::SignalSourceReport;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::destination::DestinationEdit;
use crate::signal_sources::NewSignalSourceRequest;
use crate::source_edit::{EditResult, SourceEdit};
use crate::source_explanation::SourceExplanation;
use crate::status::DaemonStatus;

pub use client::ControlClient;
pub use server::ControlServer;
pub use socket_path::socket_path;

/// Version of the control protocol.
const PROTOCOL_VERSION: u32 = 1;
/// Longest line in bytes.
const MAX_LINE_BYTES: u64 = 16 << 20;

/// Request of a command to the daemon.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlRequest {
    /// Return the status.
    Status,
    /// Explain when the source with this URL is due.
    Explain(String),
    /// Fetch the source with this URL now.
    Check(String),
    /// Edit sources.
    Edit(SourceEdit),
    /// Create a token, or replace the one of the same name.
    PutToken {
        /// Name given by the user.
        name: String,
        /// SHA-256 of the token.
        hash: [u8; 32],
        /// Scopes as a bit set.
        scopes: u8,
    },
    /// Revoke the token of this name.
    RemoveToken(String),
    /// Edit a notification destination.
    Destination(DestinationEdit),
    /// Return the reports of signal sources by id.
    #[serde(rename = "heralds")]
    SignalSourceReports(Vec<u32>),
    /// Add a sitemap or feed.
    #[serde(rename = "add_herald")]
    AddSignalSource(Box<NewSignalSourceRequest>),
    /// Remove a signal source and its children.
    #[serde(rename = "remove_herald")]
    RemoveSignalSource(u32),
    /// Request a permit for a host, for a fetch made by another process.
    #[serde(rename = "turn")]
    RequestPermit {
        /// Host name.
        host: String,
        /// Crawl delay of its robots.txt, in days.
        #[serde(rename = "delay")]
        crawl_delay_days: Option<f64>,
        /// Longest wait in days.
        #[serde(rename = "patience")]
        max_wait_days: f64,
        /// True if the caller does not ask again while the host is busy.
        #[serde(rename = "last")]
        is_final: bool,
    },
    /// Return a permit with the result of the fetch.
    #[serde(rename = "heard")]
    ReturnPermit {
        /// Host name.
        host: String,
        /// Cooldown that the host asked for, in days.
        #[serde(rename = "rest")]
        cooldown_days: Option<f64>,
        /// True if the host is to blame for a failure.
        failed: bool,
    },
}

/// Response of the daemon to a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlResponse {
    /// Status.
    Status(Box<DaemonStatus>),
    /// Explanation of when a source is due.
    #[serde(rename = "explained")]
    Explanation(Box<SourceExplanation>),
    /// Result of an edit.
    #[serde(rename = "applied")]
    EditResult(EditResult),
    /// Day from which the host may be fetched from; `None` if it is busy.
    #[serde(rename = "turn")]
    Permit(Option<f64>),
    /// The edit was applied. Holds the id of the destination, or the number of dead letters
    /// affected.
    Destination(u64),
    /// Reports of signal sources, in the order of the request.
    #[serde(rename = "heralds")]
    SignalSourceReports(Vec<Option<SignalSourceReport>>),
    /// The signal source was added or existed already.
    #[serde(rename = "added_herald")]
    SignalSourceAdded {
        /// Id of the signal source.
        #[serde(rename = "number")]
        id: u32,
        /// True if it did not exist before.
        #[serde(rename = "new")]
        is_new: bool,
    },
    /// Number of signal sources removed.
    #[serde(rename = "removed_heralds")]
    SignalSourcesRemoved(u64),
    /// Done.
    Done,
    /// Nothing to do: no such token.
    #[serde(rename = "nothing")]
    NotFound,
    /// The request was refused.
    Refused {
        /// Reason.
        #[serde(rename = "why")]
        reason: String,
        /// Hint on how to fix it, if any.
        hint: Option<String>,
    },
}

#[derive(Serialize, Deserialize)]
struct ControlMessage<T> {
    version: u32,
    #[serde(rename = "said")]
    body: T,
}

/// Version of a message, read before the rest.
#[derive(Deserialize)]
struct MessageVersion {
    version: u32,
}

/// Failure to exchange a request with the daemon.
#[derive(Debug, Error)]
pub enum ControlError {
    /// The socket belongs to another user.
    #[error("{}: the socket belongs to another user", socket.display())]
    ForeignSocket {
        /// Path of the socket.
        socket: PathBuf,
    },
    /// The connection failed.
    #[error("{}: the daemon does not answer: {source}", socket.display())]
    Disconnected {
        /// Path of the socket.
        socket: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
    /// The daemon speaks another protocol version.
    #[error("{}: the daemon speaks protocol version {daemon_version}, expected {own_version}", socket.display())]
    VersionMismatch {
        /// Path of the socket.
        socket: PathBuf,
        /// Version of the daemon.
        daemon_version: u32,
        /// Version of this program.
        own_version: u32,
    },
    /// The response is not valid.
    #[error("{}: invalid response from the daemon: {detail}", socket.display())]
    InvalidResponse {
        /// Path of the socket.
        socket: PathBuf,
        /// Parser error.
        detail: String,
    },
    /// The socket cannot be created.
    #[error("{}: cannot create the control socket: {source}", socket.display())]
    CannotListen {
        /// Path of the socket.
        socket: PathBuf,
        /// Cause.
        source: std::io::Error,
    },
}

impl ControlError {
    /// Returns a hint on how to fix the error, if any.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::ForeignSocket { .. } => Some("run the command as the user that runs the daemon"),
            Self::VersionMismatch { .. } => {
                Some("restart the daemon, so that both have the same version")
            }
            Self::Disconnected { .. } => Some("check the daemon's log"),
            Self::InvalidResponse { .. } | Self::CannotListen { .. } => None,
        }
    }
}
