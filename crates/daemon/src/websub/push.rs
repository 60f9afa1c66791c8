//! What a hub sends: the topic as it is now, mostly a feed. Its entries are signals for pages that are
//! known, and the topic itself is one.

use std::collections::HashSet;
use std::ops::ControlFlow;

use bytes::Bytes;
use freshet_signals::{Entry, Kind, Limits, Url, read};
use freshet_store::{Reader, StoreError, SubscriptionIntent};
use tokio::sync::oneshot;

use super::{BURST, PER_SECOND, Subscriber, signature};
use crate::clock::Millis;
use crate::daemon::{DaemonError, Handle};
use crate::permits::Notice;
use crate::signal_sources::{
    DiscoveryRule, SignalEncoding, SignalReport, Word, moment, news, once,
};
use crate::work::host_of;

/// What is read of what a hub sends.
const ENTRIES: u64 = 10_000;
const BYTES: u64 = 32 << 20;

/// What became of what a hub sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// It was heard: so many sources have news.
    Heard(usize),
    /// It is not signed as it should be: nothing came of it.
    Ignored,
    /// There is no such subscription.
    Unknown,
    /// It is over.
    Gone,
    /// It sends too much: not before so many seconds.
    TooMany(u32),
}

/// What a push is judged by.
struct Addressee {
    secret: String,
    topic: String,
    feed: u32,
    herald: u32,
}

impl Handle {
    /// A hub has sent something, signed so. Nothing happens if it is not from the hub.
    ///
    /// # Errors
    /// If the store cannot be read, or the daemon has stopped.
    pub async fn pushed(
        &self,
        callback: &str,
        signature: Option<&str>,
        body: Bytes,
    ) -> Result<Pushed, DaemonError> {
        let now = self.now();
        let to = match self.websub().addressee(callback, now) {
            Ok(to) => to,
            Err(pushed) => return Ok(pushed),
        };
        let (feed, herald) = (to.feed, to.herald);
        let signature = signature.map(str::to_owned);
        let judge = move || {
            let is_good = signature.is_some_and(|it| signature::is_good(&to.secret, &it, &body));
            is_good.then(|| Sent::read(to.topic, &body, now))
        };
        let judged = tokio::task::spawn_blocking(judge).await;
        let sent = judged.map_err(|_| DaemonError::Stopped)?;
        self.websub().count(callback, sent.is_some(), now);
        let Some(sent) = sent else {
            tracing::debug!(herald, "a hub sent what is not signed as it should be");
            return Ok(Pushed::Ignored);
        };
        let words = self.read(move |reader| sent.words(reader, herald, feed)).await?;
        let count = words.iter().filter(|it| it.signal).count();
        let (done, room) = oneshot::channel();
        let notice = Notice::Words {
            herald,
            source: None,
            root: herald,
            words,
            found: 0,
            reserved: 0,
            done,
        };
        self.shops().borrow().giver.notice(notice);
        // Nobody answers if it has just been removed.
        let _ = room.await;
        Ok(Pushed::Heard(count))
    }
}

/// What a hub sent, as it was read.
struct Sent {
    topic: String,
    entries: Vec<Entry>,
    /// Whether it says which pages have changed.
    is_list: bool,
    /// In seconds since 1970.
    now: i64,
}

impl Sent {
    fn read(topic: String, body: &[u8], now: Millis) -> Self {
        let mut sent = Self { topic, entries: Vec::new(), is_list: false, now: now / 1000 };
        let Ok(base) = Url::parse(&sent.topic) else { return sent };
        let limits = Limits { entries: ENTRIES, bytes: BYTES, ..Limits::at(sent.now) };
        let report = read(&mut &*body, &base, limits, &mut |entry| {
            if entry.kind == Kind::Page {
                sent.entries.push(entry);
            }
            ControlFlow::Continue(())
        });
        let is_list = report.format.is_feed() || report.format.is_sitemap();
        sent.is_list = is_list && !sent.entries.is_empty();
        sent
    }

    /// What is said of sources: of pages that the entries name, if it is news, and of the topic itself. The
    /// feed is to be read if that tells more.
    fn words(self, reader: &Reader, herald: u32, feed: u32) -> Result<Vec<Word>, StoreError> {
        let Some(kept) = reader.signal_source(feed)? else { return Ok(Vec::new()) };
        // Numbers are used again.
        let own = reader.signal_source(herald)?;
        if !own.is_some_and(|it| it.parent == Some(feed) && it.name == self.topic) {
            return Ok(Vec::new());
        }
        let base = Url::parse(&kept.name).or_else(|_| Url::parse(&self.topic));
        let sieve = base.ok().map(|base| DiscoveryRule::of(&kept).sieve(&base));
        let mut words = Vec::new();
        let topic = host_of(&self.topic).map_or(self.topic, |(url, _)| url);
        words.extend(reader.find_source(&topic)?.map(plainly));
        let manner = SignalEncoding { now: self.now, again: true, feed: true };
        let mut entries: Vec<Entry> = if self.is_list { self.entries } else { Vec::new() };
        once(&mut entries, manner);
        let urls: Vec<&str> = entries.iter().map(|it| it.url.as_str()).collect();
        let (own, of_feed) = (reader.match_urls(herald, &urls)?, reader.match_urls(feed, &urls)?);
        let mut tells_more = !self.is_list;
        for ((entry, own), of_feed) in entries.iter().zip(own).zip(of_feed) {
            if !sieve.as_ref().is_some_and(|it| it.hears(&entry.url)) {
                continue;
            }
            let Some(mut known) = own else {
                // It is added when the feed is read, by its rule.
                tells_more |= sieve.as_ref().is_some_and(|it| it.wants(&entry.url).is_some());
                continue;
            };
            known.last_entry = known.last_entry.or(of_feed.and_then(|it| it.last_entry));
            let Some(signal) = news(&known, entry, manner) else { continue };
            let said = moment(entry, manner);
            words.push(Word {
                hearsay: SignalReport {
                    source: known.id,
                    said: said.map(|it| (*it.span().start(), *it.span().end())),
                },
                signal,
                moment: said.map(|it| it.at.saturating_mul(1000)),
                print: entry.fingerprint,
            });
        }
        words.extend(kept.source.filter(|_| tells_more).map(plainly));
        // Of each source one word counts.
        let mut seen = HashSet::new();
        words.retain(|it| seen.insert(it.hearsay.source));
        Ok(words)
    }
}

/// That a source has changed, and nothing else.
fn plainly(source: u32) -> Word {
    Word { hearsay: SignalReport { source, said: None }, signal: true, moment: None, print: 0 }
}

impl Subscriber {
    /// To whom something comes, if it may.
    fn addressee(&self, callback: &str, now: Millis) -> Result<Addressee, Pushed> {
        let mut state = self.lock();
        let kept = state.all.get_mut(callback).ok_or(Pushed::Unknown)?;
        let row = &kept.row;
        if row.intent != SubscriptionIntent::Subscribe {
            return Err(Pushed::Gone);
        }
        let passed = (now - kept.at).max(0) as f64 / 1000.0;
        kept.room = (kept.room + passed * PER_SECOND).min(BURST);
        kept.at = now;
        if kept.room < 1.0 {
            return Err(Pushed::TooMany(((1.0 - kept.room) / PER_SECOND).ceil() as u32));
        }
        kept.room -= 1.0;
        let (secret, topic) = (row.secret.clone(), row.topic.clone());
        Ok(Addressee { secret, topic, feed: row.feed, herald: row.signal_source })
    }

    fn count(&self, callback: &str, is_good: bool, now: Millis) {
        let mut state = self.lock();
        let Some(kept) = state.all.get_mut(callback) else { return };
        let row = &mut kept.row;
        row.pushes += 1;
        if is_good {
            row.last_push_at = Some(now);
        } else {
            row.rejected_pushes += 1;
        }
        // It is written with the next thing that is.
        state.unwritten.insert(callback.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOPIC: &str = "https://a.example/feed";

    fn read(body: &str) -> Sent {
        Sent::read(TOPIC.to_owned(), body.as_bytes(), 1_800_000_000_000)
    }

    #[test]
    fn entries_of_a_feed_are_read() {
        let sent = read(
            "<feed xmlns='http://www.w3.org/2005/Atom'><title>t</title>
            <entry><id>1</id><link href='/one'/><updated>2026-11-01T00:00:00Z</updated></entry>
            <entry><id>2</id><link href='https://b.example/two'/></entry></feed>",
        );
        let urls: Vec<_> = sent.entries.iter().map(|it| it.url.as_str()).collect();
        assert_eq!(urls, ["https://a.example/one", "https://b.example/two"]);
        assert!(sent.is_list);
    }

    #[test]
    fn what_is_no_feed_says_nothing_of_pages() {
        for body in ["", "<html><body><a href='/x'>x</a></body></html>", "{}", "\u{0}\u{1}"] {
            assert!(!read(body).is_list, "{body}");
        }
    }

    #[test]
    fn a_document_without_end_is_read_up_to_a_limit() {
        let entry = |n: u64| format!("<item><link>https://a.example/{n}</link></item>");
        let items: String = (0..2 * ENTRIES).map(entry).collect();
        let sent = read(&format!("<rss version='2.0'><channel>{items}</channel></rss>"));
        assert!(sent.entries.len() as u64 <= ENTRIES, "{}", sent.entries.len());
    }
}
