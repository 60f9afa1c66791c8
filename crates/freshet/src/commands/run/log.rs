//! Logging: as text on a terminal, as JSON lines otherwise.

use std::io::{self, IsTerminal, Write};
use std::str::FromStr;
use std::sync::Arc;

use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::commands::run::status_line::StatusLine;

/// Log filter: `info`, or `info,freshet_daemon=debug`.
#[derive(Clone, Debug)]
pub(crate) struct LogFilter(Targets);

impl FromStr for LogFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let is_level =
            |level: &str| matches!(level, "off" | "error" | "warn" | "info" | "debug" | "trace");
        let parts = text.split(',').map(|part| part.split_once('=').map_or(part, |(_, it)| it));
        if let Some(level) = parts.clone().find(|level| !is_level(&level.to_ascii_lowercase())) {
            return Err(format!("`{level}` is not one of error, warn, info, debug, trace and off"));
        }
        text.parse().map(Self).map_err(|error| format!("{error}"))
    }
}

/// Starts logging.
pub(crate) fn start(filter: &LogFilter, line: Arc<StatusLine>) {
    let terminal = io::stderr().is_terminal();
    let layer = tracing_subscriber::fmt::layer().with_target(false).with_writer(LogWriter(line));
    let layer = if terminal {
        let colours = std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
        layer.with_ansi(colours).boxed()
    } else {
        layer.json().flatten_event(true).boxed()
    };
    // In tests a subscriber may already be installed.
    let _ = tracing_subscriber::registry().with(layer.with_filter(filter.0.clone())).try_init();
}

/// Writes log messages above the status line.
struct LogWriter(Arc<StatusLine>);

/// Message that is printed when it is dropped.
struct LogMessage {
    bytes: Vec<u8>,
    line: Arc<StatusLine>,
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = LogMessage;

    fn make_writer(&'a self) -> LogMessage {
        LogMessage { bytes: Vec::new(), line: Arc::clone(&self.0) }
    }
}

impl Write for LogMessage {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogMessage {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        // A failed write to the log must not stop the daemon.
        self.line.print_above(|| {
            let _ = io::stderr().write_all(&bytes);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_accept_known_levels_only() {
        for good in ["info", "DEBUG", "warn,freshet_daemon=trace", "off"] {
            assert!(good.parse::<LogFilter>().is_ok(), "{good}");
        }
        for bad in ["loud", "info,freshet_daemon=loud", ""] {
            assert!(bad.parse::<LogFilter>().is_err(), "{bad}");
        }
    }
}
