//! What a hub sends: the topic as it is now, mostly a feed. Its entries are signals for pages that are
//! known, and the topic itself is one.

use std::ops::ControlFlow;

use bytes::Bytes;
use freshet_heralds::{Kind, Limits, Url, read};
use freshet_store::Aim;

use super::{BURST, PER_SECOND, Subscriber, signature};
use crate::clock::Millis;
use crate::daemon::{Handle, LiveError};
use crate::voice::Word;

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
    ) -> Result<Pushed, LiveError> {
        let now = self.now();
        let to = match self.websub().addressee(callback, now) {
            Ok(to) => to,
            Err(pushed) => return Ok(pushed),
        };
        let (feed, herald) = (to.feed, to.herald);
        let signature = signature.map(str::to_owned);
        let judge = move || {
            signature
                .is_some_and(|it| signature::is_good(&to.secret, &it, &body))
                .then(|| words(&to.topic, &body, now))
        };
        let judged = tokio::task::spawn_blocking(judge).await;
        let words = judged.map_err(|_| LiveError::Stopped)?;
        self.websub().count(callback, words.is_some(), now);
        let Some((mut words, is_feed)) = words else {
            tracing::debug!(herald, "a hub sent what is not signed as it should be");
            return Ok(Pushed::Ignored);
        };
        if !is_feed && let Some(url) = self.read(move |it| it.herald(feed)).await?.map(|it| it.name)
        {
            // It has to be read to know what is new in it.
            words.push(Word { url, changed: None, print: None });
        }
        Ok(Pushed::Heard(self.speaks(herald, words).await?))
    }
}

/// What a document that was sent says, and whether it is one that says something of pages.
fn words(topic: &str, body: &[u8], now: Millis) -> (Vec<Word>, bool) {
    let mut words = vec![Word { url: topic.to_owned(), changed: None, print: None }];
    let Ok(base) = Url::parse(topic) else { return (words, false) };
    let limits = Limits { entries: ENTRIES, bytes: BYTES, ..Limits::at(now / 1000) };
    let report = read(&mut &*body, &base, limits, &mut |entry| {
        if entry.kind == Kind::Page {
            let millis = |seconds: i64| seconds.saturating_mul(1000);
            let span = entry.changed.map(|it| it.span());
            words.push(Word {
                url: entry.url,
                changed: span.map(|it| (millis(*it.start()), millis(*it.end()))),
                print: Some(entry.fingerprint),
            });
        }
        ControlFlow::Continue(())
    });
    let is_feed = report.format.is_feed() || report.format.is_sitemap();
    (words, is_feed && report.entries > 0)
}

impl Subscriber {
    /// To whom something comes, if it may.
    fn addressee(&self, callback: &str, now: Millis) -> Result<Addressee, Pushed> {
        let mut state = self.lock();
        let kept = state.all.get_mut(callback).ok_or(Pushed::Unknown)?;
        let row = &kept.row;
        if row.aim != Aim::Stay {
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
        Ok(Addressee { secret, topic, feed: row.feed, herald: row.herald })
    }

    fn count(&self, callback: &str, is_good: bool, now: Millis) {
        let mut state = self.lock();
        let Some(kept) = state.all.get_mut(callback) else { return };
        let row = &mut kept.row;
        row.pushes += 1;
        if is_good {
            row.pushed = Some(now);
        } else {
            row.ignored += 1;
        }
        // It is written with the next thing that is.
        state.unwritten.insert(callback.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOPIC: &str = "https://a.example/feed";

    #[test]
    fn entries_of_a_feed_and_the_topic_are_told() {
        let feed = "<feed xmlns='http://www.w3.org/2005/Atom'><title>t</title>
            <entry><id>1</id><link href='/one'/><updated>2026-11-01T00:00:00Z</updated></entry>
            <entry><id>2</id><link href='https://b.example/two'/></entry></feed>";
        let (words, is_feed) = words(TOPIC, feed.as_bytes(), 1_800_000_000_000);
        assert!(is_feed);
        let urls: Vec<_> = words.iter().map(|it| it.url.as_str()).collect();
        assert_eq!(urls, [TOPIC, "https://a.example/one", "https://b.example/two"]);
        assert_eq!(words[1].changed, Some((1_793_491_200_000, 1_793_491_200_000)));
        assert!(words[2].changed.is_none() && words[2].print.is_some());
    }

    #[test]
    fn what_is_no_feed_tells_of_the_topic_alone() {
        for body in
            ["", "hello", "<html><body><a href='/x'>x</a></body></html>", "{}", "\u{0}\u{1}"]
        {
            let (words, is_feed) = words(TOPIC, body.as_bytes(), 0);
            assert!(!is_feed, "{body}");
            assert_eq!(words[0].url, TOPIC, "{body}");
        }
    }

    #[test]
    fn a_document_without_end_is_read_up_to_a_limit() {
        let entry = |n: u64| format!("<item><link>https://a.example/{n}</link></item>");
        let items: String = (0..2 * ENTRIES).map(entry).collect();
        let rss = format!("<rss version='2.0'><channel>{items}</channel></rss>");
        let (words, _) = words(TOPIC, rss.as_bytes(), 0);
        assert!(words.len() as u64 <= ENTRIES + 1, "{}", words.len());
    }
}
