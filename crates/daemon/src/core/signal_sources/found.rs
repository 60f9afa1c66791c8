//! What heralds lead to: pages that become sources, parts that come to be read, sitemaps that a robots.txt
//! names.

use std::collections::{HashMap, HashSet};

use freshet_fetch::RobotsFile;
use freshet_store::{NewSignalSource, RobotsRecord, SignalSourceOrigin, SourcePatch};
use tokio::sync::oneshot;

use super::KnownSignalSource;
use crate::clock::Millis;
use crate::core::{Core, EditOver};
use crate::edit::{Applied, EditError, NewSourceRequest};
use crate::permits::Found;
use crate::signal_sources::{NewSignalSourceRequest, SignalSourceChange, SignalSourcePatch};
use crate::work::host_name;
use crate::writer::Write;

/// Heralds at most, and those that belong to one.
const MOST: usize = 200_000;
const PARTS: usize = 20_000;
/// Days after which an index is read, unless somebody said otherwise: new parts come to be known by it.
const INDEX_INTERVAL: f64 = 1.0;
/// Sitemaps of one robots.txt that are read.
const MOST_NAMED: usize = 20;

impl Core {
    /// Pages become sources, as far as the limit allows.
    pub(super) fn find(
        &mut self,
        (herald, root): (u32, u32),
        most: u64,
        mut wanted: Vec<NewSourceRequest>,
        done: oneshot::Sender<Found>,
    ) {
        let Some(known) = self.flow.heralds.known.get_mut(&root) else { return };
        let room = usize::try_from(most.saturating_sub(known.found)).unwrap_or(usize::MAX);
        let over = wanted.len().saturating_sub(room) as u64;
        wanted.truncate(room);
        let reserved = u32::try_from(wanted.len()).unwrap_or(u32::MAX);
        known.found += u64::from(reserved);
        if over > 0 && reserved > 0 {
            let name = &known.name;
            tracing::warn!(
                signal_source = name,
                most,
                "no more pages are added: the limit is reached"
            );
        }
        if wanted.is_empty() {
            let _ = done.send(Found { over, ..Found::default() });
            return;
        }
        let (told, answer) = oneshot::channel();
        let now = self.shop.clock.now();
        let mut counted = vec![root, herald];
        counted.dedup();
        if self.writer.send(Write::Found(wanted, counted, now, told)).is_err() {
            return;
        }
        let (reply, applied) = oneshot::channel::<Result<Applied, EditError>>();
        self.flow.edits.spawn(async move {
            let edited = answer.await.unwrap_or(Err(EditError::Stopped));
            EditOver { edited, reply }
        });
        tokio::spawn(async move {
            // Nothing is added if the store says no; it is told otherwise that it does.
            let added = applied.await.ok().and_then(Result::ok).unwrap_or_default().added;
            let _ = done.send(Found { added, over, reserved });
        });
    }

    /// The parts of an index: those that are new come, those that it does not name any more go.
    pub(super) fn take_parts(
        &mut self,
        (herald, root): (u32, u32),
        urls: Vec<String>,
        is_whole: bool,
        done: oneshot::Sender<Vec<Option<u32>>>,
    ) {
        let all = &self.flow.heralds;
        let is_part = |it: &KnownSignalSource| {
            it.parent == Some(herald) && it.kind != freshet_store::SignalSourceKind::WebSub
        };
        let old = all.known.iter().filter(|(_, it)| is_part(it));
        let old: HashMap<&str, (u32, Option<u32>)> =
            old.map(|(number, it)| (it.name.as_str(), (*number, it.source))).collect();
        let mut change = SignalSourceChange::default();
        if is_whole {
            let named: HashSet<&str> = urls.iter().map(String::as_str).collect();
            let gone = old.iter().filter(|(name, _)| !named.contains(*name));
            change.remove = gone.map(|(_, (number, _))| *number).collect();
        }
        let is_same = urls.iter().all(|url| old.contains_key(url.as_str()));
        if is_same && change.remove.is_empty() {
            let sources = urls.iter().map(|url| old.get(url.as_str()).and_then(|it| it.1));
            let _ = done.send(sources.collect());
            return;
        }
        // What it says of pages its parts say: it is looked at for the parts themselves.
        let source = all.known.get(&herald).and_then(|it| it.source);
        let source = source.and_then(|it| self.shop.readers.with(|r| r.source(it)).ok().flatten());
        let mut given = SignalSourcePatch::default();
        if let Some(it) = source {
            let (least, most) = (it.min_interval, it.max_interval);
            if most == NewSignalSourceRequest::MAX_INTERVAL && old.is_empty() {
                let max_interval = Some(INDEX_INTERVAL);
                change
                    .patches
                    .push((it.id, SourcePatch { max_interval, ..SourcePatch::default() }));
            }
            // How often its owner wants it read holds for its parts: that is where pages are named.
            given.min_interval =
                Some(least).filter(|it| *it != NewSignalSourceRequest::MIN_INTERVAL);
            let usual = [NewSignalSourceRequest::MAX_INTERVAL, INDEX_INTERVAL];
            given.max_interval = Some(most).filter(|it| !usual.contains(it));
        }
        let of_root = all.known.keys().filter(|it| all.root(**it) == root).count();
        let mut room = MOST.saturating_sub(all.known.len()).min(PARTS.saturating_sub(of_root));
        room += change.remove.len();
        let now = self.shop.clock.now();
        let mut places = Vec::with_capacity(urls.len());
        for url in urls {
            let is_new = !old.contains_key(url.as_str());
            if is_new && room == 0 {
                break;
            }
            room -= usize::from(is_new);
            let part = NewSignalSourceRequest {
                given: given.clone(),
                ..NewSignalSourceRequest::sitemap(url)
            };
            let part = part.check(now).ok();
            places.push(part.is_some());
            let (origin, parent) = (SignalSourceOrigin::Parent, Some(herald));
            change.add.extend(part.map(|it| NewSignalSource { origin, parent, ..it }));
        }
        let (reply, answer) = oneshot::channel();
        self.change_heralds(change, reply);
        tokio::spawn(async move {
            let Ok(Ok(changed)) = answer.await else { return };
            let mut added = changed.added.iter();
            let each = places.into_iter().map(|is_part| {
                let added = if is_part { added.next() } else { None };
                added.and_then(|it| it.source)
            });
            let _ = done.send(each.collect());
        });
    }

    /// Sitemaps that a robots.txt names are read, if enough of its host's pages are sources.
    pub(in crate::core) fn robots_found(&mut self, file: &RobotsRecord, now: Millis) {
        let (is_wanted, pages) = (self.config.signals.robots, self.config.signals.robots_pages);
        let Ok(url) = url::Url::parse(&file.url) else { return };
        let host = host_name(&url);
        let read = RobotsFile::from_bytes(url.clone(), &file.record, std::time::Duration::ZERO);
        // A file that is not there takes nothing away.
        let Some(named) = read.filter(|it| it.rules().is_some()).map(|it| it.sitemaps) else {
            return;
        };
        let of_host = |it: &KnownSignalSource| {
            it.origin == SignalSourceOrigin::Robots
                && it.speaks_for.as_deref() == Some(host.as_str())
        };
        let is_known = || self.flow.heralds.known.values().any(of_host);
        if !is_wanted || named.is_empty() && !is_known() {
            return;
        }
        let count = self.shop.readers.with(|reader| match reader.find_host(&host)? {
            Some(it) => reader.count_host_sources(it.id, pages),
            None => Ok(0),
        });
        if count.unwrap_or(0) < u64::from(pages) {
            return;
        }
        let mut change = SignalSourceChange::default();
        for text in named.iter().take(MOST_NAMED) {
            let Ok(sitemap) = url.join(text.trim()) else { continue };
            if !matches!(sitemap.scheme(), "http" | "https") {
                continue;
            }
            let mut wanted = NewSignalSourceRequest::sitemap(sitemap);
            wanted.rule.speaks_for = Some(host.clone());
            let origin = SignalSourceOrigin::Robots;
            change.add.extend(wanted.check(now).ok().map(|it| NewSignalSource { origin, ..it }));
        }
        let all = &self.flow.heralds.known;
        let is_named = |it: &KnownSignalSource| change.add.iter().any(|new| new.name == it.name);
        let gone = all.iter().filter(|(_, it)| of_host(it) && !is_named(it)).map(|(n, _)| *n);
        change.remove = gone.collect();
        let is_known = |new: &NewSignalSource| {
            all.values().any(|it| it.kind == new.kind && it.name == new.name)
        };
        change.add.retain(|new| !is_known(new));
        change.add.truncate(MOST.saturating_sub(all.len()));
        if !change.is_empty() {
            let (added, removed) = (change.add.len(), change.remove.len());
            tracing::info!(host, added, removed, "sitemaps that its robots.txt names are read");
            self.change_heralds(change, oneshot::channel().0);
        }
    }
}
