//! Import of the JSON lines that `freshet export --format json` and `freshet ls --json` write.

use std::io::{BufRead, Read};
use std::path::Path;

use freshet_daemon::{NewSourceRequest, SourceSettings};
use serde::Deserialize;

use super::entry::{EntryLocation, ImportedSource, InvalidEntry};
use super::format::{open, read_failure};
use super::{EntrySink, Notes};
use crate::failure::Failure;

/// Maximum length of a line in bytes; the settings are its longest part.
const MAX_LINE_LEN: u64 = 1 << 22;

/// Settings of a source. The statistics on the line are ignored and learned again.
#[derive(Deserialize)]
struct ExportLine {
    url: String,
    importance: Option<f64>,
    cost: Option<f64>,
    min_interval_days: Option<f64>,
    max_interval_days: Option<f64>,
    tags: Option<Vec<String>>,
    objective: Option<String>,
    settings: Option<serde_json::Value>,
    paused: Option<bool>,
    observed: Option<bool>,
    changes_a_day: Option<f64>,
}

pub(crate) fn read(path: &Path, sink: EntrySink<'_>) -> Result<Notes, Failure> {
    let mut file = open(path)?;
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let read = file.by_ref().take(MAX_LINE_LEN).read_until(b'\n', &mut line);
        if read.map_err(|error| read_failure(path, &error))? == 0 {
            break;
        }
        let location = EntryLocation::Line(number);
        if line.len() as u64 == MAX_LINE_LEN {
            let failure = Failure::new(format!("the line is longer than {MAX_LINE_LEN} bytes"));
            return Err(failure.with_location(format!("{}{location}", path.display())));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        sink(match serde_json::from_slice::<ExportLine>(&line) {
            Ok(line) => Ok(ImportedSource { request: line.into(), location }),
            Err(error) => {
                let text = error.to_string();
                let message = text.split(" at line ").next().unwrap_or_default();
                let reason = Failure::new(format!("not a line of an export: {message}"));
                Err(InvalidEntry { location, reason })
            }
        })?;
    }
    Ok(Notes::new())
}

impl From<ExportLine> for NewSourceRequest {
    fn from(line: ExportLine) -> Self {
        let settings = line.settings.filter(|it| !it.is_null()).map(|it| it.to_string());
        Self {
            url: line.url,
            settings: SourceSettings {
                change_rate: line.changes_a_day,
                observed: line.observed,
                importance: line.importance,
                cost: line.cost,
                min_interval: line.min_interval_days,
                max_interval: line.max_interval_days,
                paused: line.paused,
                tags: line.tags.filter(|tags| !tags.is_empty()),
                detect_settings: settings,
                goal: line.objective,
            },
        }
    }
}
