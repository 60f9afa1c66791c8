//! A push of a hub contains the topic's content, usually a feed. Its entries are signals about
//! known pages, and so is the push about the topic itself.

use std::collections::HashSet;
use std::ops::ControlFlow;

use bytes::Bytes;
use freshet_signals::{DocumentEntry, DocumentLimits, EntryTarget, Url, read_document};
use freshet_store::{Reader, StoreError, SubscriptionIntent};
use tokio::sync::oneshot;

use super::{MAX_PUSH_BURST, PUSHES_PER_SECOND, Subscriber, signature};
use crate::clock::Millis;
use crate::daemon::{DaemonError, DaemonHandle};
use crate::fetch_context::parse_source_url;
use crate::host_permits::LoopMessage;
use crate::signal_sources::{
    DiscoveryRule, DocumentContext, ObservedEntry, SignalReport, classify_entry, dedup_entries,
    entry_date,
};

/// Limits on the content of a push.
const MAX_ENTRIES: u64 = 10_000;
const MAX_BYTES: u64 = 32 << 20;

/// Result of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushResult {
    /// Accepted; this many sources were signalled.
    Accepted(usize),
    /// The signature is missing or invalid; the push was discarded.
    BadSignature,
    /// No such subscription.
    Unknown,
    /// The subscription has ended.
    Gone,
    /// Too many pushes; retry after this many seconds.
    RateLimited(u32),
}

/// Subscription data that a push is checked against.
struct PushTarget {
    secret: String,
    topic: String,
    feed: u32,
    signal_source: u32,
}

impl DaemonHandle {
    /// Receives a push. It is discarded unless its signature is valid.
    ///
    /// # Errors
    /// Returns [`DaemonError`] if the store cannot be read or the daemon has stopped.
    pub async fn receive_push(
        &self,
        callback: &str,
        signature: Option<&str>,
        body: Bytes,
    ) -> Result<PushResult, DaemonError> {
        let now = self.now();
        let target = match self.subscriber().push_target(callback, now) {
            Ok(target) => target,
            Err(pushed) => return Ok(pushed),
        };
        let (feed, signal_source) = (target.feed, target.signal_source);
        let signature = signature.map(str::to_owned);
        let judge = move || {
            let is_good =
                signature.is_some_and(|it| signature::is_valid(&target.secret, &it, &body));
            is_good.then(|| PushedDocument::parse(target.topic, &body, now))
        };
        let judged = tokio::task::spawn_blocking(judge).await;
        let sent = judged.map_err(|_| DaemonError::Stopped)?;
        self.subscriber().count_push(callback, sent.is_some(), now);
        let Some(sent) = sent else {
            tracing::debug!(signal_source, "discarded a push without a valid signature");
            return Ok(PushResult::BadSignature);
        };
        let observed =
            self.read(move |reader| sent.into_entries(reader, signal_source, feed)).await?;
        let count = observed.iter().filter(|it| it.is_signal).count();
        let (done, room) = oneshot::channel();
        let notice = LoopMessage::Entries {
            signal_source,
            source: None,
            root: signal_source,
            entries: observed,
            added: 0,
            reserved: 0,
            done,
        };
        self.watch_context().borrow().permits.send(notice);
        // No reply comes if the signal source has just been removed.
        let _ = room.await;
        Ok(PushResult::Accepted(count))
    }
}

/// Parsed content of a push.
struct PushedDocument {
    topic: String,
    entries: Vec<DocumentEntry>,
    /// True if it lists changed pages.
    is_document: bool,
    /// In seconds since 1970.
    now: i64,
}

impl PushedDocument {
    fn parse(topic: String, body: &[u8], now: Millis) -> Self {
        let mut sent = Self { topic, entries: Vec::new(), is_document: false, now: now / 1000 };
        let Ok(base) = Url::parse(&sent.topic) else { return sent };
        let limits = DocumentLimits {
            max_entries: MAX_ENTRIES,
            max_bytes: MAX_BYTES,
            ..DocumentLimits::new(sent.now)
        };
        let report = read_document(&mut &*body, &base, limits, &mut |entry| {
            if entry.target == EntryTarget::Page {
                sent.entries.push(entry);
            }
            ControlFlow::Continue(())
        });
        let is_list = report.format.is_feed() || report.format.is_sitemap();
        sent.is_document = is_list && !sent.entries.is_empty();
        sent
    }

    /// Returns the signals: entries that name known pages, and the topic. The feed itself is
    /// signalled if reading it would tell more.
    fn into_entries(
        self,
        reader: &Reader,
        signal_source: u32,
        feed: u32,
    ) -> Result<Vec<ObservedEntry>, StoreError> {
        let Some(entry) = reader.signal_source(feed)? else { return Ok(Vec::new()) };
        // Ids are reused.
        let own = reader.signal_source(signal_source)?;
        if !own.is_some_and(|it| it.parent == Some(feed) && it.name == self.topic) {
            return Ok(Vec::new());
        }
        let base = Url::parse(&entry.name).or_else(|_| Url::parse(&self.topic));
        let filter =
            base.ok().map(|base| DiscoveryRule::from_signal_source(&entry).into_filter(&base));
        let mut observed = Vec::new();
        let topic = parse_source_url(&self.topic).map_or(self.topic, |(url, _)| url);
        observed.extend(reader.find_source(&topic)?.map(plain_signal));
        let document = DocumentContext { now: self.now, was_read_before: true, is_feed: true };
        let mut entries: Vec<DocumentEntry> =
            if self.is_document { self.entries } else { Vec::new() };
        dedup_entries(&mut entries, document);
        let urls: Vec<&str> = entries.iter().map(|it| it.url.as_str()).collect();
        let (own, of_feed) = (
            reader.match_signalled_urls(signal_source, &urls)?,
            reader.match_signalled_urls(feed, &urls)?,
        );
        let mut tells_more = !self.is_document;
        for ((entry, own), of_feed) in entries.iter().zip(own).zip(of_feed) {
            if !filter.as_ref().is_some_and(|it| it.may_report(&entry.url)) {
                continue;
            }
            let Some(mut known) = own else {
                // Reading the feed adds the page by its rule.
                tells_more |=
                    filter.as_ref().is_some_and(|it| it.request_for(&entry.url).is_some());
                continue;
            };
            known.last_entry = known.last_entry.or(of_feed.and_then(|it| it.last_entry));
            let Some(signal) = classify_entry(&known, entry, document) else { continue };
            let date = entry_date(entry, document);
            observed.push(ObservedEntry {
                report: SignalReport {
                    source: known.id,
                    changed_between: date
                        .map(|it| (*it.possible_range().start(), *it.possible_range().end())),
                },
                is_signal: signal,
                changed_at: date.map(|it| it.unix_seconds.saturating_mul(1000)),
                fingerprint: entry.fingerprint,
            });
        }
        observed.extend(entry.source.filter(|_| tells_more).map(plain_signal));
        // Keeps one entry per source.
        let mut seen = HashSet::new();
        observed.retain(|it| seen.insert(it.report.source));
        Ok(observed)
    }
}

/// Returns a signal without an entry.
fn plain_signal(source: u32) -> ObservedEntry {
    ObservedEntry {
        report: SignalReport { source, changed_between: None },
        is_signal: true,
        changed_at: None,
        fingerprint: 0,
    }
}

impl Subscriber {
    /// Returns the subscription that a push belongs to, if it may be accepted.
    fn push_target(&self, callback: &str, now: Millis) -> Result<PushTarget, PushResult> {
        let mut state = self.lock();
        let entry = state.subscriptions.get_mut(callback).ok_or(PushResult::Unknown)?;
        let row = &entry.row;
        if row.intent != SubscriptionIntent::Subscribe {
            return Err(PushResult::Gone);
        }
        let passed = (now - entry.allowance_at).max(0) as f64 / 1000.0;
        entry.push_allowance =
            (entry.push_allowance + passed * PUSHES_PER_SECOND).min(MAX_PUSH_BURST);
        entry.allowance_at = now;
        if entry.push_allowance < 1.0 {
            return Err(PushResult::RateLimited(
                ((1.0 - entry.push_allowance) / PUSHES_PER_SECOND).ceil() as u32,
            ));
        }
        entry.push_allowance -= 1.0;
        let (secret, topic) = (row.secret.clone(), row.topic.clone());
        Ok(PushTarget { secret, topic, feed: row.feed, signal_source: row.signal_source })
    }

    fn count_push(&self, callback: &str, is_good: bool, now: Millis) {
        let mut state = self.lock();
        let Some(entry) = state.subscriptions.get_mut(callback) else { return };
        let row = &mut entry.row;
        row.pushes += 1;
        if is_good {
            row.last_push_at = Some(now);
        } else {
            row.rejected_pushes += 1;
        }
        // Saved with the next write.
        state.unwritten.insert(callback.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOPIC: &str = "https://a.example/feed";

    fn read(body: &str) -> PushedDocument {
        PushedDocument::parse(TOPIC.to_owned(), body.as_bytes(), 1_800_000_000_000)
    }

    #[test]
    fn the_entries_of_a_pushed_feed_are_read() {
        let sent = read(
            "<feed xmlns='http://www.w3.org/2005/Atom'><title>t</title>
            <entry><id>1</id><link href='/one'/><updated>2026-11-01T00:00:00Z</updated></entry>
            <entry><id>2</id><link href='https://b.example/two'/></entry></feed>",
        );
        let urls: Vec<_> = sent.entries.iter().map(|it| it.url.as_str()).collect();
        assert_eq!(urls, ["https://a.example/one", "https://b.example/two"]);
        assert!(sent.is_document);
    }

    #[test]
    fn a_push_that_is_no_feed_lists_no_pages() {
        for body in ["", "<html><body><a href='/x'>x</a></body></html>", "{}", "\u{0}\u{1}"] {
            assert!(!read(body).is_document, "{body}");
        }
    }

    #[test]
    fn an_endless_push_is_read_up_to_a_limit() {
        let entry = |n: u64| format!("<item><link>https://a.example/{n}</link></item>");
        let items: String = (0..2 * MAX_ENTRIES).map(entry).collect();
        let sent = read(&format!("<rss version='2.0'><channel>{items}</channel></rss>"));
        assert!(sent.entries.len() as u64 <= MAX_ENTRIES, "{}", sent.entries.len());
    }
}
