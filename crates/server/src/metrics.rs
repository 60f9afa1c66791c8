//! Metrics in the Prometheus text format.

use std::sync::atomic::{AtomicI64, AtomicU64};
use std::time::Duration;

use axum::http::{Method, StatusCode};
use freshet_daemon::{DaemonStatus, PushResult};
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// Media type of the text.
pub(crate) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RequestLabels {
    method: MethodLabel,
    route: String,
    status: u16,
}

/// A known HTTP method: clients can invent others, which would create new series.
#[derive(Clone, Debug, Hash, PartialEq, Eq)]
struct MethodLabel(&'static str);

impl EncodeLabelValue for MethodLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
        self.0.encode(encoder)
    }
}

type FloatGauge = Gauge<f64, AtomicU64>;

/// All metrics of the service.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabels, Histogram>,
    pub(crate) refused: Counter,
    pushes: Family<PushLabels, Counter>,
    signals: Family<SignalLabels, Counter>,
    pub(crate) connections: Gauge<i64, AtomicI64>,
    daemon: DaemonGauges,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct PushLabels {
    result: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct SignalLabels {
    kind: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

/// Gauges of the daemon's status at the last scrape.
#[derive(Default)]
struct DaemonGauges {
    numbers: Vec<(ReadFigure, FloatGauge)>,
    stream_clients: Gauge<i64, AtomicI64>,
}

/// Reads one figure from the daemon's status.
type ReadFigure = fn(&DaemonStatus) -> f64;
type Figure = (&'static str, &'static str, ReadFigure);

const DAEMON_FIGURES: &[Figure] = &[
    ("sources", "Number of sources", |it| it.sources as f64),
    ("budget_per_day", "Fetch budget per day", |it| it.budget),
    ("fetches", "Fetches since the daemon started", |it| it.fetches as f64),
    ("signal_sources", "Number of signal sources", |it| it.signal_sources as f64),
    ("requests", "Requests to hosts since the daemon started", |it| it.requests as f64),
    ("fetched_bytes", "Bytes received since the daemon started", |it| it.bytes as f64),
    ("changes", "Changes detected since the daemon started", |it| it.changes as f64),
    ("failures", "Failed fetches since the daemon started", |it| it.failures as f64),
    ("freshness", "Estimated share of fresh copies, weighted by importance", |it| it.freshness),
    ("price", "Price of a fetch: the minimum value at which a source is fetched", |it| it.price),
    ("saturated_hosts", "Hosts whose rate limit delays fetches that are worth the price", |it| {
        it.saturated_hosts as f64
    }),
    ("claimed", "Sources claimed by other crawlers", |it| it.claimed as f64),
    ("cursor", "Cursor of the newest change-log entry", |it| it.cursor as f64),
    ("trouble", "1 if the store cannot be written", |it| {
        f64::from(u8::from(it.write_error.is_some()))
    }),
];

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("freshet");
        let requests = Family::<RequestLabels, Counter>::default();
        let durations = Family::<RouteLabels, Histogram>::new_with_constructor(|| {
            Histogram::new(exponential_buckets(0.000_1, 4.0, 9))
        });
        let refused = Counter::default();
        let pushes = Family::<PushLabels, Counter>::default();
        registry.register(
            "hub_pushes",
            "Deliveries received from WebSub hubs, by result",
            pushes.clone(),
        );
        let signals = Family::<SignalLabels, Counter>::default();
        let help = "Signals received, by kind of signal source";
        registry.register("signals", help, signals.clone());
        let connections = Gauge::<i64, AtomicI64>::default();
        registry.register("http_requests", "HTTP requests answered", requests.clone());
        registry.register(
            "http_seconds",
            "Time to answer HTTP requests, in seconds",
            durations.clone(),
        );
        let help = "HTTP requests refused for lack of a valid token";
        registry.register("http_unauthorized", help, refused.clone());
        registry.register("http_connections", "Open HTTP connections", connections.clone());
        let mut daemon = DaemonGauges::default();
        registry.register(
            "stream_clients",
            "Clients of the change stream",
            daemon.stream_clients.clone(),
        );
        for (name, help, figure) in DAEMON_FIGURES {
            let number = FloatGauge::default();
            registry.register(*name, *help, number.clone());
            daemon.numbers.push((*figure, number));
        }
        Self { registry, requests, durations, refused, pushes, signals, connections, daemon }
    }
}

impl Metrics {
    /// Records a response.
    pub(crate) fn record_response(
        &self,
        method: &Method,
        route: &str,
        status: StatusCode,
        time: Duration,
    ) {
        let method = MethodLabel(match *method {
            Method::GET => "GET",
            Method::HEAD => "HEAD",
            Method::PUT => "PUT",
            Method::POST => "POST",
            Method::PATCH => "PATCH",
            Method::DELETE => "DELETE",
            _ => "other",
        });
        let requests = RequestLabels { method, route: route.to_owned(), status: status.as_u16() };
        self.requests.get_or_create(&requests).inc();
        self.durations
            .get_or_create(&RouteLabels { route: requests.route })
            .observe(time.as_secs_f64());
    }

    /// Records a delivery of a WebSub hub.
    pub(crate) fn record_push(&self, pushed: PushResult) {
        let result = match pushed {
            PushResult::Accepted(_) => "heard",
            PushResult::BadSignature => "ignored",
            PushResult::Unknown | PushResult::Gone | PushResult::RateLimited(_) => "refused",
        };
        self.pushes.get_or_create(&PushLabels { result }).inc();
    }

    /// Returns all metrics in the text format.
    pub(crate) fn text(&self, status: &DaemonStatus, stream_clients: usize) -> String {
        for (figure, number) in &self.daemon.numbers {
            number.set(figure(status));
        }
        for (kind, count) in &status.signals {
            let counter = self.signals.get_or_create(&SignalLabels { kind: kind.clone() });
            counter.inc_by(count.saturating_sub(counter.get()));
        }
        self.daemon.stream_clients.set(i64::try_from(stream_clients).unwrap_or(i64::MAX));
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
