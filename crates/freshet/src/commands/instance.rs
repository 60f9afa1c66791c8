//! Access to an instance: its configuration, its store and its daemon. Any process may read the store;
//! edits go through the daemon if one is running.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use freshet_daemon::{
    Config, ConfigError, ControlClient, ControlError, ControlRequest, ControlResponse, DaemonError,
    DestinationEdit, DestinationError, EditError, EditResult, SourceEdit, apply_destination_edit,
    apply_edit, socket_path,
};
use freshet_store::{Reader, Store, StoreError};

use crate::clock::{self, Stopwatch};
use crate::failure::Failure;

/// Time to wait for the lock of the store, which other commands hold for a short time.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(3);
/// Interval between attempts to get the lock.
pub(crate) const LOCK_RETRY_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    /// Configuration file, as created by `freshet init`
    #[arg(long, short, value_name = "FILE", default_value = "freshet.toml")]
    pub(crate) config: PathBuf,
}

/// Configuration of an instance, with access to its store and daemon.
pub(crate) struct Instance {
    pub(crate) config: Config,
}

/// Connection through which edits are made.
pub(crate) enum Editor {
    /// The running daemon.
    Daemon(ControlClient),
    /// The store itself, if no daemon is running.
    Store(Box<Store>),
}

impl Instance {
    pub(crate) fn open(arguments: &ConfigArguments) -> Result<Self, Failure> {
        Ok(Self { config: Config::read(&arguments.config)? })
    }

    /// Opens the store for reading.
    pub(crate) fn reader(&self) -> Result<Reader, Failure> {
        let opened = Reader::open(&self.config.store);
        if matches!(opened, Err(StoreError::OlderFormat { .. })) {
            // Opening the store for writing upgrades its format.
            drop(self.editor()?);
            return Ok(Reader::open(&self.config.store)?);
        }
        Ok(opened?)
    }

    /// Opens the store for reading, if it exists.
    pub(crate) fn reader_if_any(&self) -> Result<Option<Reader>, Failure> {
        match Reader::open(&self.config.store) {
            Err(StoreError::Missing { .. }) => Ok(None),
            _ => self.reader().map(Some),
        }
    }

    /// True if there are sources and the budget is 0, so that nothing is fetched automatically.
    pub(crate) fn has_zero_budget(&self, reader: &Reader) -> Result<bool, Failure> {
        let sources = reader.count_sources(&freshet_store::SourceQuery::default())?;
        let budget = self.config.effective_budget(reader)?;
        Ok(sources > 0 && budget.for_sources(sources as usize).get() == 0.0)
    }

    /// Connects to the daemon, if one is running.
    pub(crate) fn daemon(&self) -> Result<Option<ControlClient>, Failure> {
        Ok(ControlClient::connect(&self.config.store)?)
    }

    /// Opens a connection for edits: to the daemon, or to the store if no daemon is running.
    pub(crate) fn editor(&self) -> Result<Editor, Failure> {
        let store = &self.config.store;
        let watch = Stopwatch::start();
        loop {
            if let Some(client) = self.daemon()? {
                return Ok(Editor::Daemon(client));
            }
            match Store::open(store, clock::now_millis()) {
                Ok(mut opened) => {
                    opened.set_retention(self.config.retention);
                    return Ok(Editor::Store(Box::new(opened)));
                }
                Err(StoreError::InUse { .. }) if watch.elapsed() < LOCK_TIMEOUT => {
                    sleep(LOCK_RETRY_INTERVAL)
                }
                Err(error @ StoreError::InUse { .. }) => {
                    let socket = socket_path(store);
                    let socket = socket.display();
                    return Err(Failure::new(format!(
                        "{error}, and no daemon answers at {socket}"
                    ))
                    .with_hint("try again in a moment if the daemon is starting or stopping"));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Applies one edit.
    pub(crate) fn edit(&self, edit: SourceEdit) -> Result<EditResult, Failure> {
        self.editor()?.apply(edit)
    }
}

impl Editor {
    /// Applies an edit to destinations. Returns the id of the destination, or the number of deliveries.
    pub(crate) fn edit_destination(&mut self, edit: DestinationEdit) -> Result<u64, Failure> {
        match self {
            Self::Store(store) => Ok(apply_destination_edit(store, &edit, clock::now_millis())?),
            Self::Daemon(client) => match call_daemon(client, ControlRequest::Destination(edit))? {
                ControlResponse::Destination(number) => Ok(number),
                _ => Err(unexpected_reply()),
            },
        }
    }

    /// Applies an edit to sources.
    pub(crate) fn apply(&mut self, edit: SourceEdit) -> Result<EditResult, Failure> {
        match self {
            Self::Store(store) => Ok(apply_edit(store, &edit, clock::now_millis())?),
            Self::Daemon(client) => match call_daemon(client, ControlRequest::Edit(edit))? {
                ControlResponse::EditResult(applied) => Ok(applied),
                _ => Err(unexpected_reply()),
            },
        }
    }
}

/// Sends a request to the daemon. A refusal is returned as a failure.
pub(crate) fn call_daemon(
    client: &mut ControlClient,
    call: ControlRequest,
) -> Result<ControlResponse, Failure> {
    match client.send(call)? {
        ControlResponse::Refused { reason: why, hint: Some(hint) } => {
            Err(Failure::new(why).with_hint(hint))
        }
        ControlResponse::Refused { reason: why, hint: None } => Err(Failure::new(why)),
        answer => Ok(answer),
    }
}

/// Returns the failure for a reply that does not match the request.
pub(crate) fn unexpected_reply() -> Failure {
    Failure::new("unexpected reply from the daemon").with_hint("restart the daemon")
}

fn failure_with_hint(error: &impl std::fmt::Display, hint: Option<String>) -> Failure {
    match hint {
        Some(hint) => Failure::new(error).with_hint(hint),
        None => Failure::new(error),
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        failure_with_hint(&error, error.hint())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        failure_with_hint(&error, error.hint())
    }
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        failure_with_hint(&error, error.hint().map(str::to_owned))
    }
}

impl From<DestinationError> for Failure {
    fn from(error: DestinationError) -> Self {
        failure_with_hint(&error, error.hint())
    }
}

impl From<DaemonError> for Failure {
    fn from(error: DaemonError) -> Self {
        failure_with_hint(&error, error.hint())
    }
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Self {
        let hint = match &error {
            EditError::Store(error) => error.hint(),
            EditError::Url(_) => Some("give the full URL, such as `https://example.com/`".into()),
            EditError::InvalidSetting { .. } | EditError::Host(_) | EditError::Stopped => None,
        };
        failure_with_hint(&error, hint)
    }
}
