//! Heralds, for those who ask the daemon.

use freshet_engine::{PendingSignals, SignalSourceReport};
use freshet_store::{
    AddSignalSourceResult, NewSignalSource, Reader, SignalSource, SignalSourceKind,
    SignalSourceOrigin, SignalSourceQuery, Source, StoreError,
};
use tokio::sync::oneshot;

use super::change::{SignalSourceChange, SignalSourceChanges, change_of, may_go};
use super::{
    DiscoveryRule, NewSignalSourceRequest, SignalReport, SignalSourceError, SignalSourcePatch,
    SignalSourceRead,
};
use crate::core::Command;
use crate::daemon::{DaemonError, Handle};

/// A herald as it is now.
#[derive(Clone, Debug)]
pub struct SignalSourceState {
    /// As it is kept.
    pub herald: SignalSource,
    /// What is done with the pages that it names.
    pub rule: DiscoveryRule,
    /// What came of the last read; `None` if there was none.
    pub last: Option<SignalSourceRead>,
    /// What was learnt of it.
    pub report: Option<SignalSourceReport>,
    /// The source that is read to hear it: when it was, when it will be, and how that went.
    pub source: Option<Source>,
    /// How many parts it has.
    pub parts: u64,
}

impl SignalSourceState {
    /// Heralds by number, as the query asks for, without what an engine has learnt of them.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn all(reader: &Reader, query: &SignalSourceQuery) -> Result<Vec<Self>, StoreError> {
        let heralds = reader.signal_sources(query)?.into_iter();
        let all = heralds.map(|herald| {
            let source = herald.source.map(|source| reader.source(source)).transpose()?.flatten();
            let parts = reader.count_children(herald.id)?;
            let (rule, last) = (DiscoveryRule::of(&herald), SignalSourceRead::of(&herald));
            Ok(Self { herald, rule, last, report: None, source, parts })
        });
        all.collect()
    }
}

impl Handle {
    /// Heralds by number, as the query asks for.
    ///
    /// # Errors
    /// If the store cannot be read, or the daemon has stopped.
    pub async fn heralds(
        &self,
        query: SignalSourceQuery,
    ) -> Result<Vec<SignalSourceState>, DaemonError> {
        let mut found = self.read(move |reader| SignalSourceState::all(reader, &query)).await?;
        let numbers = found.iter().map(|it| it.herald.id).collect();
        let reports = self.herald_reports(numbers).await?;
        for (it, report) in found.iter_mut().zip(reports) {
            it.report = report;
        }
        Ok(found)
    }

    /// What was learnt of heralds by their numbers, in that order.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn herald_reports(
        &self,
        numbers: Vec<u32>,
    ) -> Result<Vec<Option<SignalSourceReport>>, DaemonError> {
        self.answer(|reply| Command::HeraldReports(numbers, reply)).await
    }

    /// A herald by its number.
    ///
    /// # Errors
    /// If the store cannot be read, or the daemon has stopped.
    pub async fn herald(&self, number: u32) -> Result<Option<SignalSourceState>, DaemonError> {
        let after = number.checked_sub(1);
        let found = self
            .heralds(SignalSourceQuery { after, limit: 1, ..SignalSourceQuery::default() })
            .await?;
        Ok(found.into_iter().next().filter(|it| it.herald.id == number))
    }

    /// Has a sitemap or feed read from now on; one that is known is described anew.
    ///
    /// # Errors
    /// If something in it cannot be meant, or it cannot be written.
    pub async fn add_herald(
        &self,
        wanted: NewSignalSourceRequest,
    ) -> Result<AddSignalSourceResult, SignalSourceError> {
        let add = vec![wanted.check(self.now())?];
        self.add_one(add).await
    }

    /// Describes a herald anew.
    ///
    /// # Errors
    /// If there is none, something cannot be meant, or it cannot be written.
    pub async fn change_herald(
        &self,
        number: u32,
        given: SignalSourcePatch,
    ) -> Result<(), SignalSourceError> {
        let herald = self.kept(number).await?;
        if given.rule.is_some() && herald.parent.is_some() {
            let parent = self.kept(herald.parent.unwrap_or(number)).await?.name;
            return Err(SignalSourceError::Part { name: herald.name, parent });
        }
        if given.rule.is_some() && herald.origin == SignalSourceOrigin::Config {
            return Err(SignalSourceError::Named { name: herald.name, by: "the configuration" });
        }
        self.change_heralds(change_of(&herald, &given)?).await.map(|_| ())
    }

    /// Forgets a herald with its parts and what was learnt of it. Pages that were added because of it
    /// stay. Gives how many heralds went.
    ///
    /// # Errors
    /// If there is none, it would come back by itself, or it cannot be written.
    pub async fn remove_herald(&self, number: u32) -> Result<u64, SignalSourceError> {
        let herald = self.kept(number).await?;
        let parent = match herald.parent {
            Some(parent) => Some(self.kept(parent).await?),
            None => None,
        };
        may_go(&herald, |_| Ok(parent))?;
        let change = SignalSourceChange { remove: vec![number], ..SignalSourceChange::default() };
        Ok(self.change_heralds(change).await?.removed.signal_sources.len() as u64)
    }

    /// Reads a herald now, whatever that is worth. Returns when what came of it is recorded.
    ///
    /// # Errors
    /// If there is none that is read, or the daemon has stopped.
    pub async fn read_herald(&self, number: u32) -> Result<(), DaemonError> {
        let herald = self.read(move |reader| reader.signal_source(number)).await?;
        let source = herald.and_then(|it| it.source);
        let source =
            source.ok_or_else(|| DaemonError::NoSource(format!("of signals, {number}")))?;
        self.check_number(source).await
    }

    /// The number of somebody who speaks by themselves, who is listened to from now on.
    ///
    /// # Errors
    /// If it cannot be written, or the daemon has stopped.
    pub async fn herald_named(
        &self,
        kind: SignalSourceKind,
        name: &str,
    ) -> Result<u32, SignalSourceError> {
        let owned = name.to_owned();
        let known = self.read(move |reader| reader.find_signal_source(kind, &owned)).await;
        if let Some(known) = known.map_err(unread)? {
            return Ok(known.id);
        }
        let origin = SignalSourceOrigin::Push;
        let new = NewSignalSource { origin, ..NewSignalSource::pushing(kind, name, self.now()) };
        Ok(self.add_one(vec![new]).await?.id)
    }

    /// A herald that speaks by itself says that sources have changed. Gives how many of them there are.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn hear(&self, herald: u32, said: Vec<SignalReport>) -> Result<u64, DaemonError> {
        self.answer(|reply| Command::Hear(herald, said, reply)).await
    }

    /// What signals have to do with the day on which a source is due; `None` if nobody who is trusted has
    /// spoken of it.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn announced(&self, source: u32) -> Result<Option<PendingSignals>, DaemonError> {
        self.answer(|reply| Command::Announced(source, reply)).await
    }

    async fn kept(&self, number: u32) -> Result<SignalSource, SignalSourceError> {
        let found = self.read(move |reader| reader.signal_source(number)).await.map_err(unread)?;
        found.ok_or(SignalSourceError::Unknown(number))
    }

    async fn add_one(
        &self,
        add: Vec<NewSignalSource>,
    ) -> Result<AddSignalSourceResult, SignalSourceError> {
        let change = SignalSourceChange { add, ..SignalSourceChange::default() };
        let added = self.change_heralds(change).await?.added;
        added.first().copied().ok_or(SignalSourceError::Stopped)
    }

    pub(crate) async fn change_heralds(
        &self,
        change: SignalSourceChange,
    ) -> Result<SignalSourceChanges, SignalSourceError> {
        let (reply, answer) = oneshot::channel();
        let asked = self.ask(Command::Heralds(change, reply)).await;
        asked.map_err(|_| SignalSourceError::Stopped)?;
        answer.await.unwrap_or(Err(SignalSourceError::Stopped))
    }
}

fn unread(error: DaemonError) -> SignalSourceError {
    match error {
        DaemonError::Store(error) => SignalSourceError::Store(error),
        _ => SignalSourceError::Stopped,
    }
}
