//! State shared by all requests.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use axum::http::StatusCode;
use freshet_daemon::{DaemonError, DaemonHandle, Millis};
use freshet_notify::Notifier;
use freshet_store::{Reader, StoreError, Token};
use tokio::sync::{Semaphore, watch};

use crate::auth_throttle::AuthThrottle;
use crate::change_broadcast::ChangeBroadcast;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::server::ServerTimeouts;
use crate::token::{Scope, Scopes};
use crate::true_freshness::TrueFreshness;
use crate::web::DashboardState;

/// Maximum number of concurrent store reads: more would only wait for each other.
const MAX_STORE_READS: usize = 16;
/// Maximum number of concurrent WebSub deliveries, and of concurrent IndexNow requests.
const MAX_CONCURRENT_PUSHES: usize = 8;
/// Minimum interval between two recorded uses of a token, in milliseconds.
const TOKEN_USE_INTERVAL: Millis = 300_000;

/// State shared by all requests.
pub(crate) struct App {
    pub(crate) handle: DaemonHandle,
    pub(crate) broadcast: ChangeBroadcast,
    pub(crate) notifier: Option<Notifier>,
    pub(crate) metrics: Metrics,
    pub(crate) timeouts: ServerTimeouts,
    /// Address the server listens on.
    pub(crate) address: SocketAddr,
    /// Base URL for clients, if it is not the listen address.
    pub(crate) url: Option<String>,
    /// Host names the server answers to, besides its addresses and `localhost`.
    pub(crate) hosts: Vec<String>,
    pub(crate) auth_failures: AuthThrottle,
    /// Limits how often a client can guess WebSub callback paths.
    pub(crate) callback_guesses: AuthThrottle,
    /// Held while a WebSub delivery is read.
    pub(crate) hub_push_slots: Semaphore,
    /// Held while an IndexNow request is read. Anyone may send one, so these slots are separate
    /// from the hubs'.
    pub(crate) indexnow_slots: Semaphore,
    /// State of the dashboard.
    pub(crate) web: DashboardState,
    /// Measured freshness, if it is known: in the demo.
    pub(crate) true_freshness: Option<watch::Receiver<TrueFreshness>>,
    /// Becomes true when the server stops.
    pub(crate) closing: watch::Receiver<bool>,
    /// Held while settings are read, changed and written.
    pub(crate) settings_lock: tokio::sync::Mutex<()>,
    read_slots: Semaphore,
    tokens: RwLock<TokenCache>,
    token_uses: Mutex<std::collections::HashMap<String, Millis>>,
}

/// Tokens as of a token-change count.
#[derive(Default)]
struct TokenCache {
    /// Number of token changes at the time of the read; `None` before the first.
    change_count: Option<u64>,
    tokens: Arc<Vec<Token>>,
}

impl App {
    pub(crate) fn new(
        handle: DaemonHandle,
        broadcast: ChangeBroadcast,
        settings: crate::server::ServerSettings,
        address: SocketAddr,
        closing: watch::Receiver<bool>,
    ) -> Result<Self, getrandom::Error> {
        Ok(Self {
            handle,
            broadcast,
            notifier: settings.notifier,
            metrics: Metrics::default(),
            timeouts: settings.timeouts,
            address,
            url: settings.url,
            hosts: settings.hosts,
            auth_failures: AuthThrottle::default(),
            callback_guesses: AuthThrottle::default(),
            hub_push_slots: Semaphore::new(MAX_CONCURRENT_PUSHES),
            indexnow_slots: Semaphore::new(MAX_CONCURRENT_PUSHES),
            web: DashboardState::new()?,
            true_freshness: settings.true_freshness,
            closing,
            settings_lock: tokio::sync::Mutex::default(),
            read_slots: Semaphore::new(MAX_STORE_READS),
            tokens: RwLock::default(),
            token_uses: Mutex::default(),
        })
    }

    /// Reads the store, when one of the read slots is free.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Problem> {
        let slot = self.read_slots.acquire().await;
        let read = self.handle.read(read).await;
        drop(slot);
        Ok(read?)
    }

    /// Returns the valid tokens, from the cache if they have not changed.
    pub(crate) async fn tokens(&self) -> Result<Arc<Vec<Token>>, DaemonError> {
        let changes = self.handle.token_generation();
        {
            let cache = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
            if cache.change_count == Some(changes) {
                return Ok(Arc::clone(&cache.tokens));
            }
        }
        let tokens = Arc::new(self.handle.read(|reader| reader.tokens()).await?);
        let mut cache = self.tokens.write().unwrap_or_else(PoisonError::into_inner);
        *cache = TokenCache { change_count: Some(changes), tokens: Arc::clone(&tokens) };
        Ok(tokens)
    }

    /// True if requests without a token are allowed: there is no token, and the server listens on
    /// loopback only.
    pub(crate) fn allows_anonymous(&self, tokens: &[Token]) -> bool {
        tokens.is_empty() && is_local(self.address.ip())
    }

    /// True if a client admitted with a token (or with none) would still be admitted to read.
    pub(crate) async fn can_still_read(&self, token_hash: Option<[u8; 32]>) -> bool {
        let Ok(tokens) = self.tokens().await else { return false };
        match token_hash {
            None => self.allows_anonymous(&tokens),
            Some(hash) => tokens.iter().any(|token| {
                token.hash == hash && Scopes::from_bits(token.scopes).allows(Scope::Read)
            }),
        }
    }

    /// Records the use of a token, at most once per [`TOKEN_USE_INTERVAL`].
    pub(crate) fn record_token_use(self: &Arc<Self>, token: &Token) {
        let now = self.handle.now();
        let mut token_uses = self.token_uses.lock().unwrap_or_else(PoisonError::into_inner);
        let last = token_uses.get(&token.name).copied().or(token.used_at);
        if last.is_some_and(|last| now - last < TOKEN_USE_INTERVAL) {
            return;
        }
        token_uses.insert(token.name.clone(), now);
        drop(token_uses);
        let (app, name) = (Arc::clone(self), token.name.clone());
        tokio::spawn(async move {
            let written =
                app.handle.write(move |store| store.record_token_use(&[(name, now)])).await;
            if let Err(error) = written {
                tracing::debug!("cannot record the use of a token: {error}");
            }
        });
    }

    /// True if a host name is one of the server's own. Any other name could be a DNS rebinding
    /// attack.
    pub(crate) fn is_own_host(&self, host: &str) -> bool {
        let name = host.trim_end_matches('.').to_ascii_lowercase();
        let literal = name.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(&name);
        match literal.parse::<IpAddr>() {
            // A foreign name that resolves to this machine must be refused; an IP address cannot
            // be foreign.
            Ok(address) => {
                let listen_ip = self.address.ip();
                is_local(address) || listen_ip.is_unspecified() || listen_ip == address
            }
            Err(_) => name == "localhost" || self.hosts.contains(&name),
        }
    }

    /// True once the server is stopping.
    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }
}

/// True if an address is a loopback address, also as an IPv4-mapped IPv6 address.
pub(crate) fn is_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => mapped.is_loopback(),
            None => address.is_loopback(),
        },
    }
}

/// Returns the problem for a request that took too long (503).
pub(crate) fn timeout_problem() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the request took too long").with_retry_after(5)
}
