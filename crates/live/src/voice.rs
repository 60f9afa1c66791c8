//! Those who speak by themselves: what they say of pages becomes signals for the sources among them.

use std::collections::HashSet;

use freshet_engine::{Event, Herald, Said, Signal};
use freshet_store::{HeraldRecord, Learnt, NewHerald, Reader, StoreError};
use tokio::sync::oneshot;

use crate::clock::{Millis, days};
use crate::core::{Ask, Core};
use crate::daemon::{Handle, LiveError};
use crate::work::host_of;

/// What somebody says of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Which page.
    pub url: String,
    /// The earliest and the latest moment at which it can have changed, if that is said.
    pub changed: Option<(Millis, Millis)>,
    /// All that is said of it, as one number: the same again is nothing new. `None` if each word counts.
    pub print: Option<u64>,
}

/// What the loop is told of a voice.
pub(crate) enum Voice {
    /// Somebody who is listened to from now on.
    New(u32),
    /// Somebody who is not any more.
    Gone(Vec<u32>),
    /// Somebody speaks.
    Speaks(Spoken),
}

/// What somebody said of sources.
pub(crate) struct Spoken {
    herald: u32,
    at: Millis,
    words: Vec<(u32, Word)>,
    reply: oneshot::Sender<()>,
}

impl Handle {
    /// Listens to somebody from now on. Gives the number.
    ///
    /// # Errors
    /// If it cannot be written, or the daemon has stopped.
    pub async fn introduce(&self, herald: NewHerald) -> Result<u32, LiveError> {
        let added = self.write(move |store| store.add_heralds(&[herald])).await?;
        let Some(added) = added.first() else { return Err(LiveError::Stopped) };
        if added.new {
            self.ask(Ask::Voice(Voice::New(added.number))).await?;
        }
        Ok(added.number)
    }

    /// Listens to somebody no more.
    ///
    /// # Errors
    /// If it cannot be written, or the daemon has stopped.
    pub async fn dismiss(&self, herald: u32) -> Result<(), LiveError> {
        let gone = self.write(move |store| store.remove_heralds(&[herald])).await?;
        self.ask(Ask::Voice(Voice::Gone(gone.heralds))).await
    }

    /// Somebody says that pages have changed. Gives how many sources that is news of; what was said
    /// before, by this one or by the one that it is a part of, is none.
    ///
    /// # Errors
    /// If the store cannot be read, or the daemon has stopped.
    pub async fn speaks(&self, herald: u32, words: Vec<Word>) -> Result<usize, LiveError> {
        let words = self.read(move |reader| news(reader, herald, words)).await?;
        let count = words.len();
        let at = self.now();
        let (reply, answer) = oneshot::channel();
        let spoken = Spoken { herald, at, words, reply };
        self.ask(Ask::Voice(Voice::Speaks(spoken))).await?;
        answer.await.map_err(|_| LiveError::Stopped)?;
        Ok(count)
    }
}

/// What is new of what somebody says, by the numbers of the sources. Of each source one word counts.
fn news(reader: &Reader, herald: u32, words: Vec<Word>) -> Result<Vec<(u32, Word)>, StoreError> {
    let canonical = |word: &Word| host_of(&word.url).map_or_else(|_| word.url.clone(), |it| it.0);
    let urls: Vec<String> = words.iter().map(canonical).collect();
    let known = reader.known(herald, &urls)?;
    let parent = reader.herald(herald)?.and_then(|it| it.parent);
    let before = match parent {
        Some(parent) => reader.known(parent, &urls)?,
        None => vec![None; urls.len()],
    };
    let mut seen = HashSet::new();
    let mut news = Vec::new();
    for ((word, known), before) in words.into_iter().zip(known).zip(before) {
        let Some(known) = known else { continue };
        let is_old = |said: Option<(Option<Millis>, u64)>| {
            said.is_some_and(|(_, print)| word.print == Some(print))
        };
        let was_said = is_old(known.said) || is_old(before.and_then(|it| it.said));
        if !was_said && seen.insert(known.id) {
            news.push((known.id, word));
        }
    }
    Ok(news)
}

impl Core {
    pub(crate) fn voice(&mut self, voice: Voice) {
        match voice {
            Voice::New(number) => {
                let herald = Herald { number, source: None };
                self.tell(Event::Heralds(vec![(herald, None)]));
            }
            Voice::Gone(numbers) => self.tell(Event::Dismissed(numbers)),
            Voice::Speaks(spoken) => {
                self.spoken(&spoken);
                // Who asked may have gone.
                let _ = spoken.reply.send(());
            }
        }
    }

    fn spoken(&mut self, spoken: &Spoken) {
        let Spoken { herald, at, words, .. } = spoken;
        let (herald, at) = (*herald, *at);
        for (id, word) in words {
            let id = *id;
            let said = word.changed.map(|(from, to)| Said {
                day: days(from),
                grain: (days(to) - days(from)).max(0.0),
            });
            self.tell(Event::Heard(Signal { id, herald, said }));
            let Some(learnt) = self.engine.learnt(id) else { continue };
            let due = learnt.due().map(crate::clock::millis);
            let learnt = Some(learnt.to_bytes());
            let batch = &mut self.flow.batch;
            batch.learnt.push(Learnt { source: id, learnt, due });
            batch.said.push(freshet_store::Said {
                herald,
                source: id,
                at,
                moment: word.changed.map(|it| it.0),
                print: word.print.unwrap_or(0),
            });
        }
        let record = HeraldRecord { herald, heard: Some(at), ..HeraldRecord::default() };
        self.flow.batch.heralds.push(record);
        self.flow.stale = true;
    }
}
