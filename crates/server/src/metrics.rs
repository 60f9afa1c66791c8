//! What machines watch, as Prometheus reads it.

use std::sync::atomic::{AtomicI64, AtomicU64};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use freshet_daemon::{Pushed, Status};
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// The type of the text.
pub(crate) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Asked {
    method: Verb,
    route: String,
    status: u16,
}

/// A method that is known by name: clients can make up others.
#[derive(Clone, Debug, Hash, PartialEq, Eq)]
struct Verb(&'static str);

impl EncodeLabelValue for Verb {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        self.0.encode(encoder)
    }
}

type Number = Gauge<f64, AtomicU64>;

/// What is counted.
pub(crate) struct Metrics {
    registry: Registry,
    asked: Family<Asked, Counter>,
    took: Family<Route, Histogram>,
    pub(crate) refused: Counter,
    pushes: Family<Came, Counter>,
    signals: Family<Kind, Counter>,
    pub(crate) connections: Gauge<i64, AtomicI64>,
    live: Live,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Came {
    result: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Kind {
    kind: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Route {
    route: String,
}

/// How the daemon does, as of the last look.
#[derive(Default)]
struct Live {
    numbers: Vec<(Take, Number)>,
    followers: Gauge<i64, AtomicI64>,
}

/// One number of how the daemon does.
type Take = fn(&Status) -> f64;
type Figure = (&'static str, &'static str, Take);

const FIGURES: &[Figure] = &[
    ("sources", "Sources that are kept fresh", |it| it.sources as f64),
    ("budget_per_day", "Fetches that may be made in a day", |it| it.budget),
    ("fetches", "Fetches since the start", |it| it.fetches as f64),
    ("signal_sources", "Who says that sources have changed", |it| it.signal_sources as f64),
    ("requests", "Requests to hosts since the start", |it| it.requests as f64),
    ("fetched_bytes", "Bytes that came since the start", |it| it.bytes as f64),
    ("changes", "Changes that were found since the start", |it| it.changes as f64),
    ("failures", "Fetches that failed since the start", |it| it.failures as f64),
    ("freshness", "The share of copies that are fresh, by importance", |it| it.freshness),
    ("price", "What a fetch must be worth now", |it| it.price),
    ("saturated_hosts", "Hosts that cannot take all that is worth it", |it| {
        it.saturated_hosts as f64
    }),
    ("claimed", "Sources that others are fetching", |it| it.claimed as f64),
    ("cursor", "The cursor of the newest entry of the log", |it| it.cursor as f64),
    ("trouble", "1 if the store cannot be written", |it| f64::from(u8::from(it.trouble.is_some()))),
];

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("freshet");
        let asked = Family::<Asked, Counter>::default();
        let took = Family::<Route, Histogram>::new_with_constructor(|| {
            Histogram::new(exponential_buckets(0.000_1, 4.0, 9))
        });
        let refused = Counter::default();
        let pushes = Family::<Came, Counter>::default();
        registry.register("hub_pushes", "What hubs have sent", pushes.clone());
        let signals = Family::<Kind, Counter>::default();
        let help = "Signals that were heard of sources, by the kind of who gave them";
        registry.register("signals", help, signals.clone());
        let connections = Gauge::<i64, AtomicI64>::default();
        registry.register("http_requests", "Requests that were answered", asked.clone());
        registry.register("http_seconds", "How long answers took", took.clone());
        let help = "Requests without a token that counts";
        registry.register("http_unauthorized", help, refused.clone());
        registry.register("http_connections", "Connections now", connections.clone());
        let mut live = Live::default();
        registry.register("stream_clients", "Who follows the log", live.followers.clone());
        for (name, help, figure) in FIGURES {
            let number = Number::default();
            registry.register(*name, *help, number.clone());
            live.numbers.push((*figure, number));
        }
        Self { registry, asked, took, refused, pushes, signals, connections, live }
    }
}

impl Metrics {
    /// One more answer.
    pub(crate) fn answered(
        &self,
        method: &Method,
        route: &str,
        status: StatusCode,
        time: Duration,
    ) {
        let method = Verb(match *method {
            Method::GET => "GET",
            Method::HEAD => "HEAD",
            Method::PUT => "PUT",
            Method::POST => "POST",
            Method::PATCH => "PATCH",
            Method::DELETE => "DELETE",
            _ => "other",
        });
        let asked = Asked { method, route: route.to_owned(), status: status.as_u16() };
        self.asked.get_or_create(&asked).inc();
        self.took.get_or_create(&Route { route: asked.route }).observe(time.as_secs_f64());
    }

    /// One more that a hub has sent.
    pub(crate) fn pushed(&self, pushed: Pushed) {
        let result = match pushed {
            Pushed::Heard(_) => "heard",
            Pushed::Ignored => "ignored",
            Pushed::Unknown | Pushed::Gone | Pushed::TooMany(_) => "refused",
        };
        self.pushes.get_or_create(&Came { result }).inc();
    }

    /// All of it, as text.
    pub(crate) fn text(&self, status: &Status, followers: usize) -> String {
        for (figure, number) in &self.live.numbers {
            number.set(figure(status));
        }
        for (kind, heard) in &status.signals {
            let counter = self.signals.get_or_create(&Kind { kind: kind.clone() });
            counter.inc_by(heard.saturating_sub(counter.get()));
        }
        self.live.followers.set(i64::try_from(followers).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing to memory does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
