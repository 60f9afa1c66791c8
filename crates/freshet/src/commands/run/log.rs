//! Logs: for people on a terminal, as JSON lines elsewhere.

use std::io::{self, IsTerminal, Write};
use std::str::FromStr;
use std::sync::Arc;

use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::commands::run::status_line::StatusLine;

/// What is logged: `info`, or `info,freshet_daemon=debug`.
#[derive(Clone, Debug)]
pub(crate) struct Filter(Targets);

impl FromStr for Filter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known =
            |level: &str| matches!(level, "off" | "error" | "warn" | "info" | "debug" | "trace");
        let parts = text.split(',').map(|part| part.split_once('=').map_or(part, |(_, it)| it));
        if let Some(odd) = parts.clone().find(|level| !known(&level.to_ascii_lowercase())) {
            return Err(format!("`{odd}` is not one of error, warn, info, debug, trace and off"));
        }
        text.parse().map(Self).map_err(|error| format!("{error}"))
    }
}

/// Logs from now on.
pub(crate) fn start(filter: &Filter, line: Arc<StatusLine>) {
    let terminal = io::stderr().is_terminal();
    let layer = tracing_subscriber::fmt::layer().with_target(false).with_writer(Above(line));
    let layer = if terminal {
        let colours = std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
        layer.with_ansi(colours).boxed()
    } else {
        layer.json().flatten_event(true).boxed()
    };
    // Somebody may log already, in a test; then it is said there.
    let _ = tracing_subscriber::registry().with(layer.with_filter(filter.0.clone())).try_init();
}

/// Writes above the line that says how it goes.
struct Above(Arc<StatusLine>);

/// A message in the making.
struct Message {
    bytes: Vec<u8>,
    line: Arc<StatusLine>,
}

impl<'a> MakeWriter<'a> for Above {
    type Writer = Message;

    fn make_writer(&'a self) -> Message {
        Message { bytes: Vec::new(), line: Arc::clone(&self.0) }
    }
}

impl Write for Message {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        // Where nobody listens, work goes on.
        self.line.above(|| {
            let _ = io::stderr().write_all(&bytes);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_known() {
        for good in ["info", "DEBUG", "warn,freshet_daemon=trace", "off"] {
            assert!(good.parse::<Filter>().is_ok(), "{good}");
        }
        for bad in ["loud", "info,freshet_daemon=loud", ""] {
            assert!(bad.parse::<Filter>().is_err(), "{bad}");
        }
    }
}
