//! One document is read on a thread of its own: what it says of known pages is told to the loop bit by bit,
//! pages that nobody knows are added if the rule wants them, and the parts of an index come to be read
//! themselves.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use freshet_signals::{Entry, Format, Kind, Limits, Report, Walk, WalkLimits};
use freshet_store::{SignalSourceKind, SignalSourceQuery, SourceMatch, StoreError};
use tokio::sync::oneshot;
use url::Url;

use super::news::{SignalEncoding, moment, news, once};
use super::outcome::{SignalSourceRead, is_failure};
use super::read::{DEPTH, Work};
use super::rule::{DiscoveryRule, Sieve};
use super::signal_buffer::Spool;
use super::{SignalReport, Word};
use crate::clock::Millis;
use crate::permits::{Found, Notice};
use crate::work::FetchContext;

/// Entries that are looked up at once.
const SOME: usize = 1_000;
/// Parts of one index that are read.
const PARTS: usize = 10_000;
/// Pages that are added at once.
const ADDED: usize = 500;

/// What a reader knows while it reads.
pub(super) struct Desk<'a> {
    shop: &'a FetchContext,
    work: &'a Work,
    sieve: Sieve,
    manner: SignalEncoding,
    /// Set when nobody waits for it any more.
    over: &'a AtomicBool,
    pages: Vec<Entry>,
    parts: Vec<Entry>,
    walk: Walk,
    read: SignalSourceRead,
    news: bool,
    found: u32,
    trouble: Option<StoreError>,
}

/// What came of a document.
pub(super) struct Done {
    pub(super) read: SignalSourceRead,
    /// Whether it is no sitemap or feed, or not a whole one.
    pub(super) failed: bool,
    /// Whether it said anything new.
    pub(super) news: bool,
    pub(super) found: u32,
    /// What of our own was in the way.
    pub(super) ours: Option<String>,
}

impl<'a> Desk<'a> {
    pub(super) fn new(
        shop: &'a FetchContext,
        work: &'a Work,
        base: &Url,
        at: Millis,
        over: &'a AtomicBool,
    ) -> Self {
        let rule = DiscoveryRule::of(work.root());
        // What a document is, is known when it is over; what it is called, before.
        let feed = work.herald.kind == SignalSourceKind::Feed;
        let manner =
            SignalEncoding { now: at / 1000, again: work.herald.last_signal_at.is_some(), feed };
        let mut walk = Walk::new(WalkLimits { depth: DEPTH, parts: PARTS + work.above.len() + 2 });
        let depth = u32::try_from(work.above.len()).unwrap_or(u32::MAX);
        for (it, depth) in work.above.iter().rev().zip(0..) {
            let _ = walk.enter(&it.name, depth);
        }
        let _ = walk.enter(&work.herald.name, depth);
        let _ = walk.enter(base.as_str(), depth);
        // Where it was redirected to is still what its owner named.
        let own = Url::parse(&work.root().name).unwrap_or_else(|_| base.clone());
        Self {
            shop,
            work,
            sieve: rule.sieve(&own),
            manner,
            over,
            pages: Vec::with_capacity(SOME),
            parts: Vec::new(),
            walk,
            read: SignalSourceRead::default(),
            news: false,
            found: 0,
            trouble: None,
        }
    }

    pub(super) fn read(mut self, spool: Spool, base: &Url, at: Millis) -> Done {
        let limits = Limits {
            bytes: self.shop.signals.bytes,
            entries: self.shop.signals.entries,
            in_index: self.work.herald.parent.is_some(),
            ..Limits::at(at / 1000)
        };
        let mut document = match spool.read() {
            Ok(document) => document,
            Err(error) => return self.done(None, Some(error.to_string())),
        };
        let report = freshet_signals::read(&mut document, base, limits, &mut |entry| {
            match entry.kind {
                Kind::Page => self.pages.push(entry),
                Kind::Part => self.part(entry),
            }
            if self.pages.len() < SOME { self.go_on() } else { self.look() }
        });
        let _ = self.look();
        let is_whole = report.complete && matches!(report.format, Format::Index | Format::Sitemap);
        if self.is_wanted() && (!self.parts.is_empty() || is_whole && self.was_index(&report)) {
            self.take_parts(is_whole);
        }
        let ours = match self.trouble.take() {
            Some(trouble) => Some(trouble.to_string()),
            None if !self.is_wanted() => Some("it is not wanted any more".to_owned()),
            None => None,
        };
        self.done(Some(&report), ours)
    }

    /// Whether it had parts, and names pages in their place.
    fn was_index(&mut self, report: &Report) -> bool {
        let (parent, kind) = (Some(self.work.herald.id), Some(SignalSourceKind::Sitemap));
        let parts = SignalSourceQuery { parent, kind, limit: 1, ..SignalSourceQuery::default() };
        if report.entries == 0 {
            return false;
        }
        match self.shop.readers.with(|reader| reader.signal_sources(&parts)) {
            Ok(parts) => !parts.is_empty(),
            Err(error) => {
                self.trouble = Some(error);
                false
            }
        }
    }

    fn done(mut self, report: Option<&Report>, ours: Option<String>) -> Done {
        if let Some(report) = report {
            self.read.report(report);
        }
        let failed = report.is_none_or(is_failure);
        Done { read: self.read, failed, news: self.news, found: self.found, ours }
    }

    fn is_wanted(&self) -> bool {
        !self.over.load(Ordering::Relaxed)
    }

    fn go_on(&self) -> ControlFlow<()> {
        if self.trouble.is_some() || !self.is_wanted() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn part(&mut self, entry: Entry) {
        let depth = u32::try_from(self.work.above.len()).unwrap_or(u32::MAX).saturating_add(1);
        match self.walk.enter(&entry.url, depth) {
            Ok(()) => self.parts.push(entry),
            Err(refused) => self.defect(&format!("part-{}", refused.name()), 1),
        }
    }

    fn defect(&mut self, name: &str, count: u64) {
        *self.read.defects.entry(name.to_owned()).or_default() += count;
    }

    /// Looks up the pages that have come together.
    fn look(&mut self) -> ControlFlow<()> {
        let mut pages = std::mem::take(&mut self.pages);
        once(&mut pages, self.manner);
        let number = self.work.herald.id;
        let urls: Vec<&str> = pages.iter().map(|it| it.url.as_str()).collect();
        let known = match self.shop.readers.with(|reader| reader.match_urls(number, &urls)) {
            Ok(known) => known,
            Err(error) => {
                self.trouble = Some(error);
                return ControlFlow::Break(());
            }
        };
        let mut words: Vec<Word> = Vec::new();
        let mut new = Vec::new();
        for (entry, known) in pages.iter().zip(known) {
            if !self.sieve.hears(&entry.url) {
                self.read.elsewhere += 1;
                continue;
            }
            match known {
                Some(known) => {
                    self.read.known += 1;
                    words.extend(self.word(&known, entry));
                }
                None => new.extend(self.sieve.wants(&entry.url).map(|it| (it, entry))),
            }
        }
        self.tell(words, 0, 0);
        for some in new.chunks(ADDED) {
            self.add(some);
        }
        self.pages = pages;
        self.pages.clear();
        self.go_on()
    }

    fn word(&self, known: &SourceMatch, entry: &Entry) -> Option<Word> {
        let signal = news(known, entry, self.manner)?;
        let said = moment(entry, self.manner);
        let span = said.map(|said| (*said.span().start(), *said.span().end()));
        Some(Word {
            hearsay: SignalReport { source: known.id, said: span },
            signal,
            moment: said.map(|said| said.at.saturating_mul(1000)),
            print: entry.fingerprint,
        })
    }

    /// Tells the loop, and waits until it has room for more.
    fn tell(&mut self, words: Vec<Word>, found: u32, reserved: u32) {
        if words.is_empty() && reserved == 0 {
            return;
        }
        let signals = words.iter().filter(|it| it.signal).count() as u64;
        self.read.signals += signals;
        self.news |= signals > 0 || found > 0;
        let (done, room) = oneshot::channel();
        let (herald, root) = (self.work.herald.id, self.work.root().id);
        let source = self.work.herald.source;
        let notice = Notice::Words { herald, source, root, words, found, reserved, done };
        self.wait(notice, room);
    }

    /// Has the loop take note of something. What nobody answers is not wanted any more.
    fn wait<T>(&self, notice: Notice, answer: oneshot::Receiver<T>) -> Option<T> {
        self.shop.giver.notice(notice);
        let answer = answer.blocking_recv().ok();
        if answer.is_none() {
            self.over.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// Adds pages that nobody knows.
    fn add(&mut self, some: &[(crate::edit::NewSourceRequest, &Entry)]) {
        if self.go_on().is_break() || !self.sieve.discovers() {
            return;
        }
        let (done, answer) = oneshot::channel();
        let wanted = some.iter().map(|(wanted, _)| wanted.clone()).collect();
        let (herald, root) = (self.work.herald.id, self.work.root().id);
        let (source, most) = (self.work.herald.source, self.sieve.most());
        let notice = Notice::Found { herald, source, root, most, wanted, done };
        let Some(Found { added, over, reserved }) = self.wait(notice, answer) else { return };
        self.read.over += over;
        let mut words = Vec::new();
        for (added, (_, entry)) in added.iter().zip(some) {
            let known = SourceMatch { id: added.id, fetched: None, last_entry: None };
            words.extend(self.word(&known, entry).map(|word| Word { signal: false, ..word }));
        }
        let found = added.iter().filter(|it| it.is_new).count();
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        self.found += found;
        self.read.found += u64::from(found);
        self.tell(words, found, reserved);
    }

    /// The parts of an index come to be read, those that it does not name any more go, and what it says
    /// of the others is told as of pages.
    fn take_parts(&mut self, is_whole: bool) {
        let parts = std::mem::take(&mut self.parts);
        let (done, answer) = oneshot::channel();
        let urls = parts.iter().map(|it| it.url.clone()).collect();
        let (herald, root) = (self.work.herald.id, self.work.root().id);
        let source = self.work.herald.source;
        let notice = Notice::Parts { herald, source, root, urls, is_whole, done };
        let Some(sources) = self.wait(notice, answer) else { return };
        let refused = parts.len().saturating_sub(sources.len());
        if refused > 0 {
            self.defect("part-too-many", refused as u64);
        }
        let number = self.work.herald.id;
        let ids: Vec<u32> = sources.iter().filter_map(|it| *it).collect();
        let known = self.shop.readers.with(|reader| reader.match_ids(number, &ids));
        let known = match known {
            Ok(known) => known,
            Err(error) => {
                self.trouble = Some(error);
                return;
            }
        };
        let entries = parts.iter().zip(&sources).filter(|(_, source)| source.is_some());
        let mut words = Vec::new();
        for ((entry, _), known) in entries.zip(known) {
            words.extend(known.and_then(|known| self.word(&known, entry)));
        }
        for some in words.chunks(SOME) {
            self.tell(some.to_vec(), 0, 0);
        }
    }
}
