//! Signal source methods of [`DaemonHandle`].

use freshet_engine::{PendingSignals, SignalSourceReport};
use freshet_store::{
    AddSignalSourceResult, NewSignalSource, Reader, SignalSource, SignalSourceKind,
    SignalSourceOrigin, SignalSourceQuery, Source, StoreError,
};
use tokio::sync::oneshot;

use super::change::{SignalSourceChange, SignalSourceChanges, change_for_patch, check_removable};
use super::{
    DiscoveryRule, NewSignalSourceRequest, SignalReport, SignalSourceError, SignalSourcePatch,
    SignalSourceReadResult,
};
use crate::daemon::{DaemonError, DaemonHandle};
use crate::event_loop::Command;

/// Current state of a signal source.
#[derive(Clone, Debug)]
pub struct SignalSourceState {
    /// Stored record.
    pub signal_source: SignalSource,
    /// Rule for the pages it names.
    pub rule: DiscoveryRule,
    /// Result of the last read; `None` if there was none.
    pub last_read: Option<SignalSourceReadResult>,
    /// What the engine has learned about it.
    pub report: Option<SignalSourceReport>,
    /// Source that is fetched to read it, with its schedule.
    pub source: Option<Source>,
    /// Number of children.
    pub children: u64,
}

impl SignalSourceState {
    /// Loads signal sources by id, without the engine's reports.
    ///
    /// # Errors
    /// Returns [`StoreError`] if the store cannot be read.
    pub fn load(reader: &Reader, query: &SignalSourceQuery) -> Result<Vec<Self>, StoreError> {
        let signal_sources = reader.signal_sources(query)?.into_iter();
        let all = signal_sources.map(|signal_source| {
            let source =
                signal_source.source.map(|source| reader.source(source)).transpose()?.flatten();
            let parts = reader.count_child_signal_sources(signal_source.id)?;
            let (rule, last) = (
                DiscoveryRule::from_signal_source(&signal_source),
                SignalSourceReadResult::from_signal_source(&signal_source),
            );
            Ok(Self { signal_source, rule, last_read: last, report: None, source, children: parts })
        });
        all.collect()
    }
}

impl DaemonHandle {
    /// Returns signal sources by id.
    ///
    /// # Errors
    /// Returns [`DaemonError`] if the store cannot be read or the daemon has stopped.
    pub async fn signal_sources(
        &self,
        query: SignalSourceQuery,
    ) -> Result<Vec<SignalSourceState>, DaemonError> {
        let mut found = self.read(move |reader| SignalSourceState::load(reader, &query)).await?;
        let ids = found.iter().map(|it| it.signal_source.id).collect();
        let reports = self.signal_source_reports(ids).await?;
        for (it, report) in found.iter_mut().zip(reports) {
            it.report = report;
        }
        Ok(found)
    }

    /// Returns the reports of signal sources, in the order of the ids.
    ///
    /// # Errors
    /// Returns [`DaemonError::Stopped`] if the daemon has stopped.
    pub async fn signal_source_reports(
        &self,
        ids: Vec<u32>,
    ) -> Result<Vec<Option<SignalSourceReport>>, DaemonError> {
        self.request(|reply| Command::SignalSourceReports(ids, reply)).await
    }

    /// Returns a signal source.
    ///
    /// # Errors
    /// Returns [`DaemonError`] if the store cannot be read or the daemon has stopped.
    pub async fn signal_source(&self, id: u32) -> Result<Option<SignalSourceState>, DaemonError> {
        let after = id.checked_sub(1);
        let found = self
            .signal_sources(SignalSourceQuery { after, limit: 1, ..SignalSourceQuery::default() })
            .await?;
        Ok(found.into_iter().next().filter(|it| it.signal_source.id == id))
    }

    /// Adds a sitemap or feed, or updates an existing one.
    ///
    /// # Errors
    /// Returns [`SignalSourceError`] if the request is invalid or cannot be written.
    pub async fn add_signal_source(
        &self,
        request: NewSignalSourceRequest,
    ) -> Result<AddSignalSourceResult, SignalSourceError> {
        let add = vec![request.to_new_signal_source(self.now())?];
        self.add_stored_signal_source(add).await
    }

    /// Updates the settings of a signal source.
    ///
    /// # Errors
    /// Returns [`SignalSourceError`] if it does not exist, or the patch is invalid or cannot be
    /// written.
    pub async fn update_signal_source(
        &self,
        id: u32,
        patch: SignalSourcePatch,
    ) -> Result<(), SignalSourceError> {
        let signal_source = self.stored_signal_source(id).await?;
        if patch.rule.is_some() && signal_source.parent.is_some() {
            let parent = self.stored_signal_source(signal_source.parent.unwrap_or(id)).await?.name;
            return Err(SignalSourceError::IsChild { name: signal_source.name, parent });
        }
        if patch.rule.is_some() && signal_source.origin == SignalSourceOrigin::Config {
            return Err(SignalSourceError::ManagedElsewhere {
                name: signal_source.name,
                managed_by: "the configuration",
            });
        }
        self.change_signal_sources(change_for_patch(&signal_source, &patch)?).await.map(|_| ())
    }

    /// Removes a signal source with its children and what was learned about it. Pages that it added
    /// remain. Returns the number of signal sources removed.
    ///
    /// # Errors
    /// Returns [`SignalSourceError`] if it does not exist, would be added again, or the change
    /// cannot be written.
    pub async fn remove_signal_source(&self, id: u32) -> Result<u64, SignalSourceError> {
        let signal_source = self.stored_signal_source(id).await?;
        let parent = match signal_source.parent {
            Some(parent) => Some(self.stored_signal_source(parent).await?),
            None => None,
        };
        check_removable(&signal_source, |_| Ok(parent))?;
        let change = SignalSourceChange { remove: vec![id], ..SignalSourceChange::default() };
        Ok(self.change_signal_sources(change).await?.removed.signal_sources.len() as u64)
    }

    /// Reads a signal source now and returns when the result is recorded.
    ///
    /// # Errors
    /// Returns [`DaemonError::NoSource`] if there is no document to read, and [`DaemonError`] if
    /// the daemon has stopped.
    pub async fn read_signal_source(&self, id: u32) -> Result<(), DaemonError> {
        let signal_source = self.read(move |reader| reader.signal_source(id)).await?;
        let source = signal_source.and_then(|it| it.source);
        let source = source.ok_or_else(|| DaemonError::NoSource(format!("signal source {id}")))?;
        self.check_id(source).await
    }

    /// Returns the id of a push source, which is added if necessary.
    ///
    /// # Errors
    /// Returns [`SignalSourceError`] if it cannot be written or the daemon has stopped.
    pub async fn find_or_add_push_source(
        &self,
        kind: SignalSourceKind,
        name: &str,
    ) -> Result<u32, SignalSourceError> {
        let owned = name.to_owned();
        let known = self.read(move |reader| reader.find_signal_source(kind, &owned)).await;
        if let Some(known) = known.map_err(signal_source_error)? {
            return Ok(known.id);
        }
        let origin = SignalSourceOrigin::Push;
        let new =
            NewSignalSource { origin, ..NewSignalSource::new_pushing(kind, name, self.now()) };
        Ok(self.add_stored_signal_source(vec![new]).await?.id)
    }

    /// Receives signals of a push source. Returns the number of sources that exist.
    ///
    /// # Errors
    /// Returns [`DaemonError::Stopped`] if the daemon has stopped.
    pub async fn receive_signals(
        &self,
        signal_source: u32,
        reports: Vec<SignalReport>,
    ) -> Result<u64, DaemonError> {
        self.request(|reply| Command::ReceiveSignals(signal_source, reports, reply)).await
    }

    /// Returns the signals that affect when a source is due; `None` if no trusted signal source
    /// covers it.
    ///
    /// # Errors
    /// Returns [`DaemonError::Stopped`] if the daemon has stopped.
    pub async fn pending_signals(
        &self,
        source: u32,
    ) -> Result<Option<PendingSignals>, DaemonError> {
        self.request(|reply| Command::PendingSignals(source, reply)).await
    }

    async fn stored_signal_source(&self, id: u32) -> Result<SignalSource, SignalSourceError> {
        let found =
            self.read(move |reader| reader.signal_source(id)).await.map_err(signal_source_error)?;
        found.ok_or(SignalSourceError::NotFound(id))
    }

    async fn add_stored_signal_source(
        &self,
        add: Vec<NewSignalSource>,
    ) -> Result<AddSignalSourceResult, SignalSourceError> {
        let change = SignalSourceChange { add, ..SignalSourceChange::default() };
        let added = self.change_signal_sources(change).await?.added;
        added.first().copied().ok_or(SignalSourceError::Stopped)
    }

    pub(crate) async fn change_signal_sources(
        &self,
        change: SignalSourceChange,
    ) -> Result<SignalSourceChanges, SignalSourceError> {
        let (reply, answer) = oneshot::channel();
        let sent = self.send_command(Command::ChangeSignalSources(change, reply)).await;
        sent.map_err(|_| SignalSourceError::Stopped)?;
        answer.await.unwrap_or(Err(SignalSourceError::Stopped))
    }
}

fn signal_source_error(error: DaemonError) -> SignalSourceError {
    match error {
        DaemonError::Store(error) => SignalSourceError::Store(error),
        _ => SignalSourceError::Stopped,
    }
}
