//! What all requests share.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use axum::http::StatusCode;
use freshet_daemon::{DaemonError, Handle, Millis};
use freshet_notify::Notifier;
use freshet_store::{Reader, StoreError, Token};
use tokio::sync::{Semaphore, watch};

use crate::auth_throttle::Failures;
use crate::hub::Hub;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::server::Limits;
use crate::token::{Scope, Scopes};
use crate::truth::Truth;
use crate::web::Web;

/// Requests that read the store at a time: more would only wait for each other.
const READING: usize = 16;
/// Hubs that send something at a time, and owners of sites who do.
const PUSHING: usize = 8;
/// A token is noted as used at most once in so many milliseconds.
const NOTED: Millis = 300_000;

/// What all requests share.
pub(crate) struct App {
    pub(crate) handle: Handle,
    pub(crate) hub: Hub,
    pub(crate) notifier: Option<Notifier>,
    pub(crate) metrics: Metrics,
    pub(crate) limits: Limits,
    /// Where it listens.
    pub(crate) address: SocketAddr,
    /// Where clients reach it, if that is somewhere else.
    pub(crate) url: Option<String>,
    /// Names that it may be called by, beside its addresses.
    pub(crate) hosts: Vec<String>,
    pub(crate) failures: Failures,
    /// Who calls back where nobody asked for it.
    pub(crate) guesses: Failures,
    /// Held while a hub sends something.
    pub(crate) pushing: Semaphore,
    /// Held while an owner of a site does: anybody may, and takes no turn from hubs.
    pub(crate) announcing: Semaphore,
    /// What pages share.
    pub(crate) web: Web,
    /// What is really so, where somebody knows.
    pub(crate) truth: Option<watch::Receiver<Truth>>,
    /// Says when the service is to end.
    pub(crate) closing: watch::Receiver<bool>,
    /// Held by who changes settings.
    pub(crate) adjusting: tokio::sync::Mutex<()>,
    reading: Semaphore,
    tokens: RwLock<TokenCache>,
    noted: Mutex<std::collections::HashMap<String, Millis>>,
}

/// The tokens as they were at a time.
#[derive(Default)]
struct TokenCache {
    /// How often tokens had come or gone.
    at: Option<u64>,
    tokens: Arc<Vec<Token>>,
}

impl App {
    pub(crate) fn new(
        handle: Handle,
        hub: Hub,
        settings: crate::server::Settings,
        address: SocketAddr,
        closing: watch::Receiver<bool>,
    ) -> Result<Self, getrandom::Error> {
        Ok(Self {
            handle,
            hub,
            notifier: settings.notifier,
            metrics: Metrics::default(),
            limits: settings.limits,
            address,
            url: settings.url,
            hosts: settings.hosts,
            failures: Failures::default(),
            guesses: Failures::default(),
            pushing: Semaphore::new(PUSHING),
            announcing: Semaphore::new(PUSHING),
            web: Web::new()?,
            truth: settings.truth,
            closing,
            adjusting: tokio::sync::Mutex::default(),
            reading: Semaphore::new(READING),
            tokens: RwLock::default(),
            noted: Mutex::default(),
        })
    }

    /// Reads the store, in line with others who do.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Problem> {
        let turn = self.reading.acquire().await;
        let read = self.handle.read(read).await;
        drop(turn);
        Ok(read?)
    }

    /// The tokens that count now.
    pub(crate) async fn tokens(&self) -> Result<Arc<Vec<Token>>, DaemonError> {
        let changes = self.handle.token_changes();
        {
            let known = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
            if known.at == Some(changes) {
                return Ok(Arc::clone(&known.tokens));
            }
        }
        let tokens = Arc::new(self.handle.read(|reader| reader.tokens()).await?);
        let mut known = self.tokens.write().unwrap_or_else(PoisonError::into_inner);
        *known = TokenCache { at: Some(changes), tokens: Arc::clone(&tokens) };
        Ok(tokens)
    }

    /// Whether everybody who can reach it may do everything: on this machine alone, without any token.
    pub(crate) fn is_open(&self, tokens: &[Token]) -> bool {
        tokens.is_empty() && is_local(self.address.ip())
    }

    /// Whether who was let in by a token, or by none, would be let in to read now.
    pub(crate) async fn still_counts(&self, by: Option<[u8; 32]>) -> bool {
        let Ok(tokens) = self.tokens().await else { return false };
        match by {
            None => self.is_open(&tokens),
            Some(hash) => tokens.iter().any(|token| {
                token.hash == hash && Scopes::from_bits(token.scopes).allow(Scope::Read)
            }),
        }
    }

    /// Notes that a token is used, now and then.
    pub(crate) fn used(self: &Arc<Self>, token: &Token) {
        let now = self.handle.now();
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let last = noted.get(&token.name).copied().or(token.used_at);
        if last.is_some_and(|last| now - last < NOTED) {
            return;
        }
        noted.insert(token.name.clone(), now);
        drop(noted);
        let (app, name) = (Arc::clone(self), token.name.clone());
        tokio::spawn(async move {
            let used = app.handle.write(move |store| store.record_token_use(&[(name, now)])).await;
            if let Err(error) = used {
                tracing::debug!("cannot note that a token was used: {error}");
            }
        });
    }

    /// Whether the service is asked for under a name of its own.
    pub(crate) fn is_called(&self, host: &str) -> bool {
        let name = host.trim_end_matches('.').to_ascii_lowercase();
        let literal = name.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(&name);
        match literal.parse::<IpAddr>() {
            // A name of somebody else that leads here is what must not be; an address leads here.
            Ok(address) => {
                let own = self.address.ip();
                is_local(address) || own.is_unspecified() || own == address
            }
            Err(_) => name == "localhost" || self.hosts.contains(&name),
        }
    }

    /// Whether the service is ending.
    pub(crate) fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }
}

/// Whether an address leads to the machine itself and nowhere else.
pub(crate) fn is_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback(),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) => mapped.is_loopback(),
            None => address.is_loopback(),
        },
    }
}

/// The answer if something took longer than it may.
pub(crate) fn too_long() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "it took too long").after(5)
}
