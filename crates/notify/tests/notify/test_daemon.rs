//! Test daemon that fetches nothing, with a notifier; tests write its change log.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use freshet_daemon::{
    Clock, Config, Daemon, DaemonHandle, DestinationEdit, NewSourceRequest, SourceEdit,
};
use freshet_notify::{
    Notifier, NotifySettings, RawChannel, RawTarget, RawWebhook, SigningKey, Target,
};
use freshet_store::{Batch, Destination, FetchRecord, NewChange, StoredOutcome};
use tempfile::TempDir;

/// Waits until a condition holds, for at least a minute.
pub(crate) async fn wait_until<F: Future<Output = bool>>(
    condition: &str,
    mut holds: impl FnMut() -> F,
) {
    for _ in 0..3000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never happened: {condition}");
}

pub(crate) struct TestDaemon {
    folder: TempDir,
    config: String,
    daemon: Option<Daemon>,
    /// Milliseconds by which the clock of the daemon is ahead.
    clock_offset: Arc<AtomicI64>,
    pub(crate) handle: DaemonHandle,
    pub(crate) notifier: Notifier,
}

/// Configuration with short retries, and with loopback allowed.
pub(crate) const FAST_RETRIES: &str = "crew = 0\n[server]\nlisten = \"off\"\n\
    [notify]\nwait = \"20ms\"\nattempts = 5\n[fetch]\nallow = [\"127.0.0.0/8\"]\n";

#[allow(clippy::disallowed_methods)]
pub(crate) fn wall_clock() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

fn start(
    folder: &Path,
    config: &str,
    clock_offset: &Arc<AtomicI64>,
) -> (Daemon, DaemonHandle, Notifier) {
    let config = Config::parse(config, &folder.join("freshet.toml")).unwrap();
    let clock_offset = Arc::clone(clock_offset);
    let clock =
        Clock::new(Box::new(move || wall_clock() + clock_offset.load(Ordering::Relaxed)), 1.0);
    let daemon = Daemon::start(config.clone(), clock).unwrap();
    let handle = daemon.handle();
    let notifier = Notifier::start(handle.clone(), NotifySettings::from_config(&config));
    (daemon, handle, notifier)
}

impl TestDaemon {
    pub(crate) async fn new(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock_offset = Arc::default();
        let (daemon, handle, notifier) = start(folder.path(), config, &clock_offset);
        let (config, daemon) = (config.to_owned(), Some(daemon));
        let test_daemon = Self { folder, config, daemon, clock_offset, handle, notifier };
        let urls = ["https://a.example/", "https://a.example/news", "https://b.example/"];
        let requests =
            urls.map(|url| NewSourceRequest { url: url.to_owned(), ..NewSourceRequest::default() });
        test_daemon.handle.edit(SourceEdit::Add(requests.to_vec())).await.unwrap();
        test_daemon
    }

    /// Restarts the daemon, with another configuration if there is one.
    pub(crate) async fn restart(&mut self, config: Option<&str>) {
        self.notifier.stop().await;
        assert!(self.daemon.take().unwrap().stop().await);
        if let Some(config) = config {
            self.config = config.to_owned();
        }
        let (daemon, handle, notifier) =
            start(self.folder.path(), &self.config, &self.clock_offset);
        (self.daemon, self.handle, self.notifier) = (Some(daemon), handle, notifier);
    }

    /// Reloads the configuration, as SIGHUP does.
    pub(crate) fn reload(&self, config: &str) {
        let config = Config::parse(config, &self.folder.path().join("freshet.toml")).unwrap();
        self.notifier.reload(NotifySettings::from_config(&config));
    }

    /// Rotates the signing key of a webhook. Returns the new secret.
    pub(crate) async fn rotate_key(&self, id: u32, grace: Duration) -> String {
        let before = self.destination(id).await.settings;
        let mut target = Target::parse(&before).unwrap();
        let key = target.rotate_key(self.handle.now(), grace).unwrap().unwrap();
        let edit = DestinationEdit::RotateKey {
            id,
            settings: target.to_json(),
            expected_settings: before,
        };
        self.handle.edit_destination(edit.clone()).await.unwrap();
        // A concurrent edit that is slower fails.
        assert!(self.handle.edit_destination(edit).await.is_err());
        key.reveal_secret().to_owned()
    }

    /// Logs a change of a source. Returns its cursor.
    pub(crate) async fn log_change(&self, source: u32, summary: &str) -> i64 {
        self.log_changes(&[(source, summary)]).await
    }

    /// Logs changes at the same time. Returns the last cursor.
    pub(crate) async fn log_changes(&self, changes: &[(u32, &str)]) -> i64 {
        let now = self.handle.now();
        let fetches = changes.iter().map(|&(source, summary)| {
            let mut fetch = FetchRecord::new(source, now, StoredOutcome::Changed);
            fetch.change = Some(NewChange {
                last_unchanged_at: Some(now - 1000),
                first_changed_at: now,
                old_digest: Some([1; 16]),
                new_digest: [2; 16],
                old_size: Some(10),
                new_size: 12,
                similarity: 0.5,
                summary: summary.to_owned(),
            });
            fetch
        });
        let batch = Batch { fetches: fetches.collect(), ..Batch::default() };
        let recorded = self.handle.write(move |store| store.record_batch(&batch)).await.unwrap();
        // The daemon does not notice changes that it did not fetch itself.
        self.wake().await;
        recorded.cursors.into_iter().flatten().next_back().unwrap()
    }

    /// Advances the clock.
    pub(crate) async fn advance_clock(&self, time: Duration) {
        self.clock_offset.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::Relaxed);
        self.wake().await;
    }

    pub(crate) async fn wake(&self) {
        let nothing = DestinationEdit::RemoveDeadLetters { dead_letters: Vec::new() };
        self.handle.edit_destination(nothing).await.unwrap();
    }

    /// Adds a destination. Returns its id.
    pub(crate) async fn add_destination(&self, name: &str, raw: RawTarget) -> u32 {
        let settings = Target::try_from(raw).unwrap().to_json();
        let edit = DestinationEdit::Create { name: name.to_owned(), settings, after: None };
        u32::try_from(self.handle.edit_destination(edit).await.unwrap()).unwrap()
    }

    /// Replaces the settings of a destination.
    pub(crate) async fn replace_settings(&self, id: u32, raw: RawTarget) {
        let settings = Target::try_from(raw).unwrap().to_json();
        let before = self.destination(id).await.settings;
        let edit = DestinationEdit::Update { id, settings, expected_settings: before };
        self.handle.edit_destination(edit).await.unwrap();
    }

    pub(crate) async fn destination(&self, id: u32) -> Destination {
        self.handle.read(move |reader| reader.destination(id)).await.unwrap().unwrap()
    }

    pub(crate) async fn dead_letters(&self, id: u32) -> Vec<freshet_store::DeadLetter> {
        self.handle.read(move |reader| reader.dead_letters(id, 0, 100)).await.unwrap()
    }

    pub(crate) async fn pause(&self, id: u32, paused: bool) {
        self.handle.edit_destination(DestinationEdit::SetPaused { id, paused }).await.unwrap();
    }

    pub(crate) async fn stop(mut self) {
        self.notifier.stop().await;
        assert!(self.daemon.take().unwrap().stop().await);
    }
}

/// Returns a webhook target with a new key.
pub(crate) fn webhook(url: &str) -> RawTarget {
    let keys = vec![SigningKey::generate(0).unwrap()];
    let headers = std::collections::BTreeMap::new();
    RawTarget::new(RawChannel::Webhook(RawWebhook { url: url.to_owned(), headers, keys }))
}
