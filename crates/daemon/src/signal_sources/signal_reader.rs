//! Reads one document on a blocking thread. Signals for known pages go to the event loop in
//! portions, unknown pages are added if the rule admits them, and children of an index are added as
//! signal sources.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use freshet_signals::{
    DocumentEntry, DocumentFormat, DocumentLimits, DocumentReport, EntryTarget, SitemapIndexLimits,
    SitemapIndexWalk,
};
use freshet_store::{SignalSourceKind, SignalSourceQuery, SourceMatch, StoreError};
use tokio::sync::oneshot;
use url::Url;

use super::discovery_rule::{DiscoveryFilter, DiscoveryRule};
use super::document_fetch::{MAX_INDEX_DEPTH, ReadJob};
use super::entry_classifier::{DocumentContext, classify_entry, dedup_entries, entry_date};
use super::read_result::{SignalSourceReadResult, is_failure};
use super::signal_buffer::SignalBuffer;
use super::{ObservedEntry, SignalReport};
use crate::clock::Millis;
use crate::fetch_context::FetchContext;
use crate::host_permits::{DiscoveryResult, LoopMessage};

/// Entries per lookup.
const LOOKUP_BATCH: usize = 1_000;
/// Children read per index.
const MAX_CHILDREN: usize = 10_000;
/// Pages per edit.
const ADD_BATCH: usize = 500;

/// State of a read.
pub(super) struct SignalReader<'a> {
    context: &'a FetchContext,
    job: &'a ReadJob,
    filter: DiscoveryFilter,
    document: DocumentContext,
    /// Set when the result is no longer needed.
    is_cancelled: &'a AtomicBool,
    pages: Vec<DocumentEntry>,
    children: Vec<DocumentEntry>,
    walk: SitemapIndexWalk,
    result: SignalSourceReadResult,
    has_signals: bool,
    sources_added: u32,
    store_error: Option<StoreError>,
}

/// Result of reading a document.
pub(super) struct DocumentResult {
    pub(super) result: SignalSourceReadResult,
    /// True if it is not a sitemap or feed, or is incomplete.
    pub(super) failed: bool,
    /// True if it contained signals.
    pub(super) has_signals: bool,
    pub(super) sources_added: u32,
    /// Failure on our side.
    pub(super) own_error: Option<String>,
}

impl<'a> SignalReader<'a> {
    pub(super) fn new(
        context: &'a FetchContext,
        work: &'a ReadJob,
        base: &Url,
        at: Millis,
        over_limit: &'a AtomicBool,
    ) -> Self {
        let rule = DiscoveryRule::from_signal_source(work.root());
        // The format is known only at the end; the declared kind is known now.
        let feed = work.signal_source.kind == SignalSourceKind::Feed;
        let document = DocumentContext {
            now: at / 1000,
            was_read_before: work.signal_source.last_signal_at.is_some(),
            is_feed: feed,
        };
        let mut walk = SitemapIndexWalk::new(SitemapIndexLimits {
            max_depth: MAX_INDEX_DEPTH,
            max_documents: MAX_CHILDREN + work.ancestors.len() + 2,
        });
        let depth = u32::try_from(work.ancestors.len()).unwrap_or(u32::MAX);
        for (it, depth) in work.ancestors.iter().rev().zip(0..) {
            let _ = walk.visit(&it.name, depth);
        }
        let _ = walk.visit(&work.signal_source.name, depth);
        let _ = walk.visit(base.as_str(), depth);
        // A redirect does not change which host the rule belongs to.
        let own = Url::parse(&work.root().name).unwrap_or_else(|_| base.clone());
        Self {
            context,
            job: work,
            filter: rule.into_filter(&own),
            document,
            is_cancelled: over_limit,
            pages: Vec::with_capacity(LOOKUP_BATCH),
            children: Vec::new(),
            walk,
            result: SignalSourceReadResult::default(),
            has_signals: false,
            sources_added: 0,
            store_error: None,
        }
    }

    pub(super) fn result(mut self, buffer: SignalBuffer, base: &Url, at: Millis) -> DocumentResult {
        let limits = DocumentLimits {
            max_bytes: self.context.read_limits.max_bytes,
            max_entries: self.context.read_limits.max_entries,
            in_index: self.job.signal_source.parent.is_some(),
            ..DocumentLimits::new(at / 1000)
        };
        let mut document = match buffer.into_reader() {
            Ok(document) => document,
            Err(error) => return self.finish(None, Some(error.to_string())),
        };
        let report = freshet_signals::read_document(&mut document, base, limits, &mut |entry| {
            match entry.target {
                EntryTarget::Page => self.pages.push(entry),
                EntryTarget::Sitemap => self.add_child(entry),
            }
            if self.pages.len() < LOOKUP_BATCH { self.control_flow() } else { self.flush_pages() }
        });
        let _ = self.flush_pages();
        let is_whole = report.is_complete
            && matches!(report.format, DocumentFormat::SitemapIndex | DocumentFormat::Sitemap);
        if self.is_active() && (!self.children.is_empty() || is_whole && self.had_children(&report))
        {
            self.update_children(is_whole);
        }
        let own_error = match self.store_error.take() {
            Some(error) => Some(error.to_string()),
            None if !self.is_active() => Some("the read was cancelled".to_owned()),
            None => None,
        };
        self.finish(Some(&report), own_error)
    }

    /// True if the document was an index before and now names pages.
    fn had_children(&mut self, report: &DocumentReport) -> bool {
        let (parent, kind) = (Some(self.job.signal_source.id), Some(SignalSourceKind::Sitemap));
        let parts = SignalSourceQuery { parent, kind, limit: 1, ..SignalSourceQuery::default() };
        if report.pages == 0 {
            return false;
        }
        match self.context.readers.with_reader(|reader| reader.signal_sources(&parts)) {
            Ok(parts) => !parts.is_empty(),
            Err(error) => {
                self.store_error = Some(error);
                false
            }
        }
    }

    fn finish(
        mut self,
        report: Option<&DocumentReport>,
        own_error: Option<String>,
    ) -> DocumentResult {
        if let Some(report) = report {
            self.result.add_report(report);
        }
        let failed = report.is_none_or(is_failure);
        DocumentResult {
            result: self.result,
            failed,
            has_signals: self.has_signals,
            sources_added: self.sources_added,
            own_error,
        }
    }

    fn is_active(&self) -> bool {
        !self.is_cancelled.load(Ordering::Relaxed)
    }

    fn control_flow(&self) -> ControlFlow<()> {
        if self.store_error.is_some() || !self.is_active() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn add_child(&mut self, entry: DocumentEntry) {
        let depth = u32::try_from(self.job.ancestors.len()).unwrap_or(u32::MAX).saturating_add(1);
        match self.walk.visit(&entry.url, depth) {
            Ok(()) => self.children.push(entry),
            Err(refused) => self.count_defect(&format!("part-{}", refused.name()), 1),
        }
    }

    fn count_defect(&mut self, name: &str, count: u64) {
        *self.result.defects.entry(name.to_owned()).or_default() += count;
    }

    /// Looks up the collected pages.
    fn flush_pages(&mut self) -> ControlFlow<()> {
        let mut pages = std::mem::take(&mut self.pages);
        dedup_entries(&mut pages, self.document);
        let number = self.job.signal_source.id;
        let urls: Vec<&str> = pages.iter().map(|it| it.url.as_str()).collect();
        let known = match self
            .context
            .readers
            .with_reader(|reader| reader.match_signalled_urls(number, &urls))
        {
            Ok(known) => known,
            Err(error) => {
                self.store_error = Some(error);
                return ControlFlow::Break(());
            }
        };
        let mut observed: Vec<ObservedEntry> = Vec::new();
        let mut new = Vec::new();
        for (entry, known) in pages.iter().zip(known) {
            if !self.filter.may_report(&entry.url) {
                self.result.elsewhere += 1;
                continue;
            }
            match known {
                Some(known) => {
                    self.result.known += 1;
                    observed.extend(self.observe_entry(&known, entry));
                }
                None => new.extend(self.filter.request_for(&entry.url).map(|it| (it, entry))),
            }
        }
        self.send_entries(observed, 0, 0);
        for chunk in new.chunks(ADD_BATCH) {
            self.add_discovered(chunk);
        }
        self.pages = pages;
        self.pages.clear();
        self.control_flow()
    }

    fn observe_entry(&self, known: &SourceMatch, entry: &DocumentEntry) -> Option<ObservedEntry> {
        let signal = classify_entry(known, entry, self.document)?;
        let date = entry_date(entry, self.document);
        let span = date.map(|date| (*date.possible_range().start(), *date.possible_range().end()));
        Some(ObservedEntry {
            report: SignalReport { source: known.id, changed_between: span },
            is_signal: signal,
            changed_at: date.map(|date| date.unix_seconds.saturating_mul(1000)),
            fingerprint: entry.fingerprint,
        })
    }

    /// Sends entries to the event loop and waits until it has room for more.
    fn send_entries(&mut self, observed: Vec<ObservedEntry>, added: u32, reserved: u32) {
        if observed.is_empty() && reserved == 0 {
            return;
        }
        let signals = observed.iter().filter(|it| it.is_signal).count() as u64;
        self.result.signals += signals;
        self.has_signals |= signals > 0 || added > 0;
        let (done, room) = oneshot::channel();
        let (signal_source, root) = (self.job.signal_source.id, self.job.root().id);
        let source = self.job.signal_source.source;
        let notice = LoopMessage::Entries {
            signal_source,
            source,
            root,
            entries: observed,
            added,
            reserved,
            done,
        };
        self.send_and_wait(notice, room);
    }

    /// Sends a message and waits for the reply. Without one, the read is cancelled.
    fn send_and_wait<T>(&self, notice: LoopMessage, answer: oneshot::Receiver<T>) -> Option<T> {
        self.context.permits.send(notice);
        let answer = answer.blocking_recv().ok();
        if answer.is_none() {
            self.is_cancelled.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// Adds unknown pages.
    fn add_discovered(&mut self, chunk: &[(crate::source_edit::NewSourceRequest, &DocumentEntry)]) {
        if self.control_flow().is_break() || !self.filter.is_discovering() {
            return;
        }
        let (done, answer) = oneshot::channel();
        let requests = chunk.iter().map(|(requests, _)| requests.clone()).collect();
        let (signal_source, root) = (self.job.signal_source.id, self.job.root().id);
        let (source, max_added) = (self.job.signal_source.source, self.filter.max_pages());
        let notice =
            LoopMessage::Discovered { signal_source, source, root, max_added, requests, done };
        let Some(DiscoveryResult { added, over_limit, reserved }) =
            self.send_and_wait(notice, answer)
        else {
            return;
        };
        self.result.over += over_limit;
        let mut observed = Vec::new();
        for (added, (_, entry)) in added.iter().zip(chunk) {
            let known = SourceMatch { id: added.id, fetched_at: None, last_entry: None };
            observed.extend(
                self.observe_entry(&known, entry)
                    .map(|entry| ObservedEntry { is_signal: false, ..entry }),
            );
        }
        let added = added.iter().filter(|it| it.is_new).count();
        let added = u32::try_from(added).unwrap_or(u32::MAX);
        self.sources_added += added;
        self.result.found += u64::from(added);
        self.send_entries(observed, added, reserved);
    }

    /// Adds new children of an index, removes those that are gone, and sends entries for the
    /// others.
    fn update_children(&mut self, is_whole: bool) {
        let parts = std::mem::take(&mut self.children);
        let (done, answer) = oneshot::channel();
        let urls = parts.iter().map(|it| it.url.clone()).collect();
        let (signal_source, root) = (self.job.signal_source.id, self.job.root().id);
        let source = self.job.signal_source.source;
        let notice = LoopMessage::Children {
            signal_source,
            source,
            root,
            urls,
            is_complete: is_whole,
            done,
        };
        let Some(sources) = self.send_and_wait(notice, answer) else { return };
        let refused = parts.len().saturating_sub(sources.len());
        if refused > 0 {
            self.count_defect("part-too-many", refused as u64);
        }
        let number = self.job.signal_source.id;
        let ids: Vec<u32> = sources.iter().filter_map(|it| *it).collect();
        let known =
            self.context.readers.with_reader(|reader| reader.match_signalled_ids(number, &ids));
        let known = match known {
            Ok(known) => known,
            Err(error) => {
                self.store_error = Some(error);
                return;
            }
        };
        let entries = parts.iter().zip(&sources).filter(|(_, source)| source.is_some());
        let mut observed = Vec::new();
        for ((entry, _), known) in entries.zip(known) {
            observed.extend(known.and_then(|known| self.observe_entry(&known, entry)));
        }
        for chunk in observed.chunks(LOOKUP_BATCH) {
            self.send_entries(chunk.to_vec(), 0, 0);
        }
    }
}
