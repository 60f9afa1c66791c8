//! A configuration and its store: to be read by anyone, and changed through the daemon if one runs.

use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use clap::Args;
use freshet_daemon::{
    Answer, Applied, Call, Client, Config, ConfigError, ControlError, DaemonError, DestinationEdit,
    DestinationError, Edit, EditError, apply, edit_destination, socket_of,
};
use freshet_store::{Reader, Store, StoreError};

use crate::clock::{self, Stopwatch};
use crate::failure::Failure;

/// How long others may hold the store before that is a failure: commands take a moment.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    /// The configuration: the budget, the store, how to fetch. `freshet init` writes one
    #[arg(long, short, value_name = "FILE", default_value = "freshet.toml")]
    pub(crate) config: PathBuf,
}

/// A configuration and its store.
pub(crate) struct Home {
    pub(crate) config: Config,
}

/// Who makes changes.
pub(crate) enum Editor {
    /// The daemon that runs.
    Daemon(Client),
    /// This process: there is none.
    Alone(Box<Store>),
}

impl Home {
    pub(crate) fn open(arguments: &ConfigArguments) -> Result<Self, Failure> {
        Ok(Self { config: Config::read(&arguments.config)? })
    }

    /// What is in the store.
    pub(crate) fn reader(&self) -> Result<Reader, Failure> {
        let opened = Reader::open(&self.config.store);
        if matches!(opened, Err(StoreError::OlderFormat { .. })) {
            // Whoever writes to it brings it up to date.
            drop(self.editor()?);
            return Ok(Reader::open(&self.config.store)?);
        }
        Ok(opened?)
    }

    /// The same, if there is a store.
    pub(crate) fn reader_if_any(&self) -> Result<Option<Reader>, Failure> {
        match Reader::open(&self.config.store) {
            Err(StoreError::Missing { .. }) => Ok(None),
            _ => self.reader().map(Some),
        }
    }

    /// Whether nothing is fetched but by hand: the budget is 0.
    pub(crate) fn rests(&self, reader: &Reader) -> Result<bool, Failure> {
        let sources = reader.count_sources(&freshet_store::SourceQuery::default())?;
        let budget = self.config.budget_in_force(reader)?;
        Ok(sources > 0 && budget.for_sources(sources as usize).get() == 0.0)
    }

    /// The daemon, if one runs.
    pub(crate) fn daemon(&self) -> Result<Option<Client>, Failure> {
        Ok(Client::connect(&self.config.store)?)
    }

    /// Who can make changes: the daemon, or this process as long as there is none.
    pub(crate) fn editor(&self) -> Result<Editor, Failure> {
        let store = &self.config.store;
        let watch = Stopwatch::start();
        loop {
            if let Some(client) = self.daemon()? {
                return Ok(Editor::Daemon(client));
            }
            match Store::open(store, clock::millis()) {
                Ok(mut opened) => {
                    opened.set_retention(self.config.retention);
                    return Ok(Editor::Alone(Box::new(opened)));
                }
                Err(StoreError::InUse { .. }) if watch.elapsed() < PATIENCE => sleep(PAUSE),
                Err(error @ StoreError::InUse { .. }) => {
                    let socket = socket_of(store);
                    let socket = socket.display();
                    return Err(Failure::new(format!("{error}, and nobody answers at {socket}"))
                        .hint("a daemon that is starting or stopping answers in a moment"));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Makes one change.
    pub(crate) fn edit(&self, edit: Edit) -> Result<Applied, Failure> {
        self.editor()?.apply(edit)
    }
}

impl Editor {
    /// Changes whom the daemon tells. Gives the number of the destination, or of letters.
    pub(crate) fn destination(&mut self, edit: DestinationEdit) -> Result<u64, Failure> {
        match self {
            Self::Alone(store) => Ok(edit_destination(store, &edit, clock::millis())?),
            Self::Daemon(client) => match ask(client, Call::Destination(edit))? {
                Answer::Destination(number) => Ok(number),
                _ => Err(odd()),
            },
        }
    }

    pub(crate) fn apply(&mut self, edit: Edit) -> Result<Applied, Failure> {
        match self {
            Self::Alone(store) => Ok(apply(store, &edit, clock::millis())?),
            Self::Daemon(client) => match ask(client, Call::Edit(edit))? {
                Answer::Applied(applied) => Ok(applied),
                _ => Err(odd()),
            },
        }
    }
}

/// Asks the daemon; what it refuses is a failure.
pub(crate) fn ask(client: &mut Client, call: Call) -> Result<Answer, Failure> {
    match client.ask(call)? {
        Answer::Refused { why, hint: Some(hint) } => Err(Failure::new(why).hint(hint)),
        Answer::Refused { why, hint: None } => Err(Failure::new(why)),
        answer => Ok(answer),
    }
}

/// An answer to another question.
pub(crate) fn odd() -> Failure {
    Failure::new("the daemon answered something else").hint("restart it")
}

fn with_hint(error: &impl std::fmt::Display, hint: Option<String>) -> Failure {
    match hint {
        Some(hint) => Failure::new(error).hint(hint),
        None => Failure::new(error),
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        with_hint(&error, error.hint())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        with_hint(&error, error.hint())
    }
}

impl From<ControlError> for Failure {
    fn from(error: ControlError) -> Self {
        with_hint(&error, error.hint().map(str::to_owned))
    }
}

impl From<DestinationError> for Failure {
    fn from(error: DestinationError) -> Self {
        with_hint(&error, error.hint())
    }
}

impl From<DaemonError> for Failure {
    fn from(error: DaemonError) -> Self {
        with_hint(&error, error.hint())
    }
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Self {
        let hint = match &error {
            EditError::Store(error) => error.hint(),
            EditError::Url(_) => Some("give the whole URL, such as `https://example.com/`".into()),
            EditError::Given { .. } | EditError::Host(_) | EditError::Stopped => None,
        };
        with_hint(&error, hint)
    }
}
