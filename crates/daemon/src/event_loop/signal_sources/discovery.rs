//! Discovery through signal sources: pages to add, children of an index, and sitemaps named in
//! robots.txt.

use std::collections::{HashMap, HashSet};

use freshet_fetch::RobotsFile;
use freshet_store::{NewSignalSource, RobotsRecord, SignalSourceOrigin, SourcePatch};
use tokio::sync::oneshot;

use super::KnownSignalSource;
use crate::clock::Millis;
use crate::event_loop::{CompletedEdit, EventLoop};
use crate::fetch_context::host_name;
use crate::host_permits::DiscoveryResult;
use crate::signal_sources::{NewSignalSourceRequest, SignalSourceChange, SignalSourcePatch};
use crate::source_edit::{EditError, EditResult, NewSourceRequest};
use crate::writer::WriteOrder;

/// Most signal sources in total, and most descendants of one.
const MAX_SIGNAL_SOURCES: usize = 200_000;
const MAX_DESCENDANTS: usize = 20_000;
/// Default days between reads of an index, in which new children appear.
const INDEX_INTERVAL_DAYS: f64 = 1.0;
/// Sitemaps read per robots.txt.
const MAX_ROBOTS_SITEMAPS: usize = 20;

impl EventLoop {
    /// Adds discovered pages as sources, up to the rule's limit.
    pub(super) fn add_discovered(
        &mut self,
        (signal_source, root): (u32, u32),
        max_added: u64,
        mut requests: Vec<NewSourceRequest>,
        done: oneshot::Sender<DiscoveryResult>,
    ) {
        let Some(known) = self.in_flight.signal_sources.by_id.get_mut(&root) else { return };
        let room =
            usize::try_from(max_added.saturating_sub(known.sources_added)).unwrap_or(usize::MAX);
        let over_limit = requests.len().saturating_sub(room) as u64;
        requests.truncate(room);
        let reserved = u32::try_from(requests.len()).unwrap_or(u32::MAX);
        known.sources_added += u64::from(reserved);
        if over_limit > 0 && reserved > 0 {
            let name = &known.name;
            tracing::warn!(
                signal_source = name,
                max_added,
                "page limit of the rule reached; no more pages are added"
            );
        }
        if requests.is_empty() {
            let _ = done.send(DiscoveryResult { over_limit, ..DiscoveryResult::default() });
            return;
        }
        let (sender, answer) = oneshot::channel();
        let now = self.context.clock.now();
        let mut counted = vec![root, signal_source];
        counted.dedup();
        if self.writer.send(WriteOrder::AddDiscovered(requests, counted, now, sender)).is_err() {
            return;
        }
        let (reply, applied) = oneshot::channel::<Result<EditResult, EditError>>();
        self.in_flight.edits.spawn(async move {
            let edited = answer.await.unwrap_or(Err(EditError::Stopped));
            CompletedEdit { edited, reply }
        });
        tokio::spawn(async move {
            // If the store rejects the edit, nothing is added; the edit's own reply reports the
            // error.
            let added = applied.await.ok().and_then(Result::ok).unwrap_or_default().add_results;
            let _ = done.send(DiscoveryResult { added, over_limit, reserved });
        });
    }

    /// Adds new children of an index and removes those that it no longer names.
    pub(super) fn update_children(
        &mut self,
        (signal_source, root): (u32, u32),
        urls: Vec<String>,
        is_whole: bool,
        done: oneshot::Sender<Vec<Option<u32>>>,
    ) {
        let all = &self.in_flight.signal_sources;
        let is_part = |it: &KnownSignalSource| {
            it.parent == Some(signal_source) && it.kind != freshet_store::SignalSourceKind::WebSub
        };
        let old = all.by_id.iter().filter(|(_, it)| is_part(it));
        let old: HashMap<&str, (u32, Option<u32>)> =
            old.map(|(number, it)| (it.name.as_str(), (*number, it.source))).collect();
        let mut change = SignalSourceChange::default();
        if is_whole {
            let named_sitemaps: HashSet<&str> = urls.iter().map(String::as_str).collect();
            let gone = old.iter().filter(|(name, _)| !named_sitemaps.contains(*name));
            change.remove = gone.map(|(_, (number, _))| *number).collect();
        }
        let is_same = urls.iter().all(|url| old.contains_key(url.as_str()));
        if is_same && change.remove.is_empty() {
            let sources = urls.iter().map(|url| old.get(url.as_str()).and_then(|it| it.1));
            let _ = done.send(sources.collect());
            return;
        }
        // Pages are signalled by the children; the index is read to find them.
        let source = all.by_id.get(&signal_source).and_then(|it| it.source);
        let source =
            source.and_then(|it| self.context.readers.with_reader(|r| r.source(it)).ok().flatten());
        let mut patch = SignalSourcePatch::default();
        if let Some(it) = source {
            let (min, max_added) = (it.min_interval, it.max_interval);
            if max_added == NewSignalSourceRequest::MAX_INTERVAL && old.is_empty() {
                let max_interval = Some(INDEX_INTERVAL_DAYS);
                change
                    .patches
                    .push((it.id, SourcePatch { max_interval, ..SourcePatch::default() }));
            }
            // A configured interval applies to the children too, since they name the pages.
            patch.min_interval = Some(min).filter(|it| *it != NewSignalSourceRequest::MIN_INTERVAL);
            let usual = [NewSignalSourceRequest::MAX_INTERVAL, INDEX_INTERVAL_DAYS];
            patch.max_interval = Some(max_added).filter(|it| !usual.contains(it));
        }
        let of_root = all.by_id.keys().filter(|it| all.root_id(**it) == root).count();
        let mut room = MAX_SIGNAL_SOURCES
            .saturating_sub(all.by_id.len())
            .min(MAX_DESCENDANTS.saturating_sub(of_root));
        room += change.remove.len();
        let now = self.context.clock.now();
        let mut is_added = Vec::with_capacity(urls.len());
        for url in urls {
            let is_new = !old.contains_key(url.as_str());
            if is_new && room == 0 {
                break;
            }
            room -= usize::from(is_new);
            let part = NewSignalSourceRequest {
                patch: patch.clone(),
                ..NewSignalSourceRequest::sitemap(url)
            };
            let part = part.to_new_signal_source(now).ok();
            is_added.push(part.is_some());
            let (origin, parent) = (SignalSourceOrigin::Parent, Some(signal_source));
            change.add.extend(part.map(|it| NewSignalSource { origin, parent, ..it }));
        }
        let (reply, answer) = oneshot::channel();
        self.change_signal_sources(change, reply);
        tokio::spawn(async move {
            let Ok(Ok(changed)) = answer.await else { return };
            let mut added = changed.added.iter();
            let each = is_added.into_iter().map(|is_part| {
                let added = if is_part { added.next() } else { None };
                added.and_then(|it| it.source)
            });
            let _ = done.send(each.collect());
        });
    }

    /// Adds the sitemaps named in a robots.txt if the host has enough sources.
    pub(in crate::event_loop) fn on_robots_read(&mut self, file: &RobotsRecord, now: Millis) {
        let (is_wanted, pages) =
            (self.config.signals.robots_sitemaps, self.config.signals.min_robots_pages);
        let Ok(url) = url::Url::parse(&file.url) else { return };
        let host = host_name(&url);
        let read = RobotsFile::from_bytes(url.clone(), &file.record, std::time::Duration::ZERO);
        // A missing robots.txt removes nothing.
        let Some(named_sitemaps) = read.filter(|it| it.rules().is_some()).map(|it| it.sitemaps)
        else {
            return;
        };
        let of_host = |it: &KnownSignalSource| {
            it.origin == SignalSourceOrigin::Robots
                && it.only_host.as_deref() == Some(host.as_str())
        };
        let is_known = || self.in_flight.signal_sources.by_id.values().any(of_host);
        if !is_wanted || named_sitemaps.is_empty() && !is_known() {
            return;
        }
        let count = self.context.readers.with_reader(|reader| match reader.find_host(&host)? {
            Some(it) => reader.count_host_sources(it.id, pages),
            None => Ok(0),
        });
        if count.unwrap_or(0) < u64::from(pages) {
            return;
        }
        let mut change = SignalSourceChange::default();
        for text in named_sitemaps.iter().take(MAX_ROBOTS_SITEMAPS) {
            let Ok(sitemap) = url.join(text.trim()) else { continue };
            if !matches!(sitemap.scheme(), "http" | "https") {
                continue;
            }
            let mut requests = NewSignalSourceRequest::sitemap(sitemap);
            requests.rule.only_host = Some(host.clone());
            let origin = SignalSourceOrigin::Robots;
            change.add.extend(
                requests.to_new_signal_source(now).ok().map(|it| NewSignalSource { origin, ..it }),
            );
        }
        let all = &self.in_flight.signal_sources.by_id;
        let is_named = |it: &KnownSignalSource| change.add.iter().any(|new| new.name == it.name);
        let gone = all.iter().filter(|(_, it)| of_host(it) && !is_named(it)).map(|(n, _)| *n);
        change.remove = gone.collect();
        let is_known = |new: &NewSignalSource| {
            all.values().any(|it| it.kind == new.kind && it.name == new.name)
        };
        change.add.retain(|new| !is_known(new));
        change.add.truncate(MAX_SIGNAL_SOURCES.saturating_sub(all.len()));
        if !change.is_empty() {
            let (added, removed) = (change.add.len(), change.remove.len());
            tracing::info!(host, added, removed, "updated sitemaps from robots.txt");
            self.change_signal_sources(change, oneshot::channel().0);
        }
    }
}
