//! A daemon that fetches nothing, a notifier, and a log that a test writes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use freshet_daemon::{Clock, Config, Daemon, DestinationEdit, Edit, Handle, NewSourceRequest};
use freshet_notify::{
    Notifier, NotifySettings, RawChannel, RawTarget, RawWebhook, SigningKey, Target,
};
use freshet_store::{Batch, Destination, FetchRecord, NewChange, StoredOutcome};
use tempfile::TempDir;

/// Waits until something holds; for a minute at least.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    for _ in 0..3000 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never happened: {what}");
}

pub(crate) struct Home {
    folder: TempDir,
    config: String,
    daemon: Option<Daemon>,
    /// How far the daemon's clock is ahead.
    ahead: Arc<AtomicI64>,
    pub(crate) handle: Handle,
    pub(crate) notifier: Notifier,
}

/// Quick, and open to loopback.
pub(crate) const QUICK: &str = "crew = 0\n[server]\nlisten = \"off\"\n\
    [notify]\nwait = \"20ms\"\nattempts = 5\n[fetch]\nallow = [\"127.0.0.0/8\"]\n";

#[allow(clippy::disallowed_methods)]
pub(crate) fn wall() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_millis()).unwrap()
}

fn start(folder: &Path, config: &str, ahead: &Arc<AtomicI64>) -> (Daemon, Handle, Notifier) {
    let config = Config::parse(config, &folder.join("freshet.toml")).unwrap();
    let ahead = Arc::clone(ahead);
    let clock = Clock::new(Box::new(move || wall() + ahead.load(Ordering::Relaxed)), 1.0);
    let daemon = Daemon::start(config.clone(), clock).unwrap();
    let handle = daemon.handle();
    let notifier = Notifier::start(handle.clone(), NotifySettings::from_config(&config));
    (daemon, handle, notifier)
}

impl Home {
    pub(crate) async fn new(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ahead = Arc::default();
        let (daemon, handle, notifier) = start(folder.path(), config, &ahead);
        let (config, daemon) = (config.to_owned(), Some(daemon));
        let home = Self { folder, config, daemon, ahead, handle, notifier };
        let urls = ["https://a.example/", "https://a.example/news", "https://b.example/"];
        let wanted =
            urls.map(|url| NewSourceRequest { url: url.to_owned(), ..NewSourceRequest::default() });
        home.handle.edit(Edit::Add(wanted.to_vec())).await.unwrap();
        home
    }

    /// Ends it, and starts it again with another configuration.
    pub(crate) async fn restart(&mut self, config: Option<&str>) {
        self.notifier.stop().await;
        assert!(self.daemon.take().unwrap().stop().await);
        if let Some(config) = config {
            self.config = config.to_owned();
        }
        let (daemon, handle, notifier) = start(self.folder.path(), &self.config, &self.ahead);
        (self.daemon, self.handle, self.notifier) = (Some(daemon), handle, notifier);
    }

    /// Has it read other settings, as the owner does with SIGHUP.
    pub(crate) fn reload(&self, config: &str) {
        let config = Config::parse(config, &self.folder.path().join("freshet.toml")).unwrap();
        self.notifier.reload(NotifySettings::from_config(&config));
    }

    /// Gives a webhook a new key; gives what it is.
    pub(crate) async fn rotate(&self, id: u32, grace: Duration) -> String {
        let before = self.row(id).await.settings;
        let mut target = Target::parse(&before).unwrap();
        let key = target.rotate_key(self.handle.now(), grace).unwrap().unwrap();
        let edit = DestinationEdit::Rekey { id, settings: target.to_json(), before };
        self.handle.edit_destination(edit.clone()).await.unwrap();
        // Who was slower does not undo it.
        assert!(self.handle.edit_destination(edit).await.is_err());
        key.reveal_secret().to_owned()
    }

    /// A change of a source; gives its cursor.
    pub(crate) async fn change(&self, source: u32, summary: &str) -> i64 {
        self.changes(&[(source, summary)]).await
    }

    /// Changes at one moment; gives the cursor of the last one.
    pub(crate) async fn changes(&self, changes: &[(u32, &str)]) -> i64 {
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
        // The daemon does not see what it has not fetched.
        self.wake().await;
        recorded.cursors.into_iter().flatten().next_back().unwrap()
    }

    /// So much time passes.
    pub(crate) async fn pass(&self, time: Duration) {
        self.ahead.fetch_add(i64::try_from(time.as_millis()).unwrap(), Ordering::Relaxed);
        self.wake().await;
    }

    pub(crate) async fn wake(&self) {
        let nothing = DestinationEdit::Unbury { dead: Vec::new() };
        self.handle.edit_destination(nothing).await.unwrap();
    }

    /// A destination; gives its number.
    pub(crate) async fn tell(&self, name: &str, raw: RawTarget) -> u32 {
        let settings = Target::try_from(raw).unwrap().to_json();
        let edit = DestinationEdit::Make { name: name.to_owned(), settings, after: None };
        u32::try_from(self.handle.edit_destination(edit).await.unwrap()).unwrap()
    }

    /// Describes a destination anew.
    pub(crate) async fn retell(&self, id: u32, raw: RawTarget) {
        let settings = Target::try_from(raw).unwrap().to_json();
        let before = self.row(id).await.settings;
        let edit = DestinationEdit::Change { id, settings, before };
        self.handle.edit_destination(edit).await.unwrap();
    }

    pub(crate) async fn row(&self, id: u32) -> Destination {
        self.handle.read(move |reader| reader.destination(id)).await.unwrap().unwrap()
    }

    pub(crate) async fn dead(&self, id: u32) -> Vec<freshet_store::DeadLetter> {
        self.handle.read(move |reader| reader.dead_letters(id, 0, 100)).await.unwrap()
    }

    pub(crate) async fn pause(&self, id: u32, paused: bool) {
        self.handle.edit_destination(DestinationEdit::Pause { id, paused }).await.unwrap();
    }

    pub(crate) async fn stop(mut self) {
        self.notifier.stop().await;
        assert!(self.daemon.take().unwrap().stop().await);
    }
}

/// A webhook with a new key.
pub(crate) fn hook(url: &str) -> RawTarget {
    let keys = vec![SigningKey::generate(0).unwrap()];
    let headers = std::collections::BTreeMap::new();
    RawTarget::new(RawChannel::Webhook(RawWebhook { url: url.to_owned(), headers, keys }))
}
