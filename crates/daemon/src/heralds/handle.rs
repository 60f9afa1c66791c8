//! Heralds, for those who ask the daemon.

use freshet_engine::{Announced, HeraldReport};
use freshet_store::{
    AddedHerald, Herald, HeraldKind, HeraldOrigin, HeraldQuery, NewHerald, Reader, Source,
    StoreError,
};
use tokio::sync::oneshot;

use super::change::{HeraldChange, HeraldsChanged, change_of, may_go};
use super::{Hearsay, HeraldError, HeraldGiven, HeraldRead, HeraldRule, HeraldWanted};
use crate::core::Ask;
use crate::daemon::{Handle, LiveError};

/// A herald as it is now.
#[derive(Clone, Debug)]
pub struct HeraldNow {
    /// As it is kept.
    pub herald: Herald,
    /// What is done with the pages that it names.
    pub rule: HeraldRule,
    /// What came of the last read; `None` if there was none.
    pub last: Option<HeraldRead>,
    /// What was learnt of it.
    pub report: Option<HeraldReport>,
    /// The source that is read to hear it: when it was, when it will be, and how that went.
    pub source: Option<Source>,
    /// How many parts it has.
    pub parts: u64,
}

impl HeraldNow {
    /// Heralds by number, as the query asks for, without what an engine has learnt of them.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn all(reader: &Reader, query: &HeraldQuery) -> Result<Vec<Self>, StoreError> {
        let heralds = reader.heralds(query)?.into_iter();
        let all = heralds.map(|herald| {
            let source = herald.source.map(|source| reader.source(source)).transpose()?.flatten();
            let parts = reader.count_parts(herald.number)?;
            let (rule, last) = (HeraldRule::of(&herald), HeraldRead::of(&herald));
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
    pub async fn heralds(&self, query: HeraldQuery) -> Result<Vec<HeraldNow>, LiveError> {
        let mut found = self.read(move |reader| HeraldNow::all(reader, &query)).await?;
        let numbers = found.iter().map(|it| it.herald.number).collect();
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
    ) -> Result<Vec<Option<HeraldReport>>, LiveError> {
        self.answer(|reply| Ask::HeraldReports(numbers, reply)).await
    }

    /// A herald by its number.
    ///
    /// # Errors
    /// If the store cannot be read, or the daemon has stopped.
    pub async fn herald(&self, number: u32) -> Result<Option<HeraldNow>, LiveError> {
        let after = number.checked_sub(1);
        let found = self.heralds(HeraldQuery { after, limit: 1, ..HeraldQuery::default() }).await?;
        Ok(found.into_iter().next().filter(|it| it.herald.number == number))
    }

    /// Has a sitemap or feed read from now on; one that is known is described anew.
    ///
    /// # Errors
    /// If something in it cannot be meant, or it cannot be written.
    pub async fn add_herald(&self, wanted: HeraldWanted) -> Result<AddedHerald, HeraldError> {
        let add = vec![wanted.check(self.now())?];
        self.add_one(add).await
    }

    /// Describes a herald anew.
    ///
    /// # Errors
    /// If there is none, something cannot be meant, or it cannot be written.
    pub async fn change_herald(&self, number: u32, given: HeraldGiven) -> Result<(), HeraldError> {
        let herald = self.kept(number).await?;
        if given.rule.is_some() && herald.parent.is_some() {
            let parent = self.kept(herald.parent.unwrap_or(number)).await?.name;
            return Err(HeraldError::Part { name: herald.name, parent });
        }
        if given.rule.is_some() && herald.origin == HeraldOrigin::File {
            return Err(HeraldError::Named { name: herald.name, by: "the configuration" });
        }
        self.change_heralds(change_of(&herald, &given)?).await.map(|_| ())
    }

    /// Forgets a herald with its parts and what was learnt of it. Pages that were added because of it
    /// stay. Gives how many heralds went.
    ///
    /// # Errors
    /// If there is none, it would come back by itself, or it cannot be written.
    pub async fn remove_herald(&self, number: u32) -> Result<u64, HeraldError> {
        let herald = self.kept(number).await?;
        let parent = match herald.parent {
            Some(parent) => Some(self.kept(parent).await?),
            None => None,
        };
        may_go(&herald, |_| Ok(parent))?;
        let change = HeraldChange { remove: vec![number], ..HeraldChange::default() };
        Ok(self.change_heralds(change).await?.removed.heralds.len() as u64)
    }

    /// Reads a herald now, whatever that is worth. Returns when what came of it is recorded.
    ///
    /// # Errors
    /// If there is none that is read, or the daemon has stopped.
    pub async fn read_herald(&self, number: u32) -> Result<(), LiveError> {
        let herald = self.read(move |reader| reader.herald(number)).await?;
        let source = herald.and_then(|it| it.source);
        let source = source.ok_or_else(|| LiveError::NoSource(format!("of signals, {number}")))?;
        self.check_number(source).await
    }

    /// The number of somebody who speaks by themselves, who is listened to from now on.
    ///
    /// # Errors
    /// If it cannot be written, or the daemon has stopped.
    pub async fn herald_named(&self, kind: HeraldKind, name: &str) -> Result<u32, HeraldError> {
        let owned = name.to_owned();
        let known = self.read(move |reader| reader.find_herald(kind, &owned)).await;
        if let Some(known) = known.map_err(unread)? {
            return Ok(known.number);
        }
        let origin = HeraldOrigin::Heard;
        let new = NewHerald { origin, ..NewHerald::speaks(kind, name, self.now()) };
        Ok(self.add_one(vec![new]).await?.number)
    }

    /// A herald that speaks by itself says that sources have changed. Gives how many of them there are.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn hear(&self, herald: u32, said: Vec<Hearsay>) -> Result<u64, LiveError> {
        self.answer(|reply| Ask::Hear(herald, said, reply)).await
    }

    /// What signals have to do with the day on which a source is due; `None` if nobody who is trusted has
    /// spoken of it.
    ///
    /// # Errors
    /// If the daemon has stopped.
    pub async fn announced(&self, source: u32) -> Result<Option<Announced>, LiveError> {
        self.answer(|reply| Ask::Announced(source, reply)).await
    }

    async fn kept(&self, number: u32) -> Result<Herald, HeraldError> {
        let found = self.read(move |reader| reader.herald(number)).await.map_err(unread)?;
        found.ok_or(HeraldError::Unknown(number))
    }

    async fn add_one(&self, add: Vec<NewHerald>) -> Result<AddedHerald, HeraldError> {
        let change = HeraldChange { add, ..HeraldChange::default() };
        let added = self.change_heralds(change).await?.added;
        added.first().copied().ok_or(HeraldError::Stopped)
    }

    pub(crate) async fn change_heralds(
        &self,
        change: HeraldChange,
    ) -> Result<HeraldsChanged, HeraldError> {
        let (reply, answer) = oneshot::channel();
        let asked = self.ask(Ask::Heralds(change, reply)).await;
        asked.map_err(|_| HeraldError::Stopped)?;
        answer.await.unwrap_or(Err(HeraldError::Stopped))
    }
}

fn unread(error: LiveError) -> HeraldError {
    match error {
        LiveError::Store(error) => HeraldError::Store(error),
        _ => HeraldError::Stopped,
    }
}
