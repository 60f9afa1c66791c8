//! What `freshet export --format json` and `freshet ls --json` write: one object on each line.

use std::io::{BufRead, Read};
use std::path::Path;

use freshet_daemon::{NewSourceRequest, SourceSettings};
use serde::Deserialize;

use super::format::{open, unreadable};
use super::location::{Bad, Found, Place};
use super::{Each, Notes};
use crate::failure::Failure;

/// Bytes of a line at most: settings are the longest part of it.
const LONGEST: u64 = 1 << 22;

/// What an owner said of a source. The rest of the line is what was learnt, and is learnt anew.
#[derive(Deserialize)]
struct Line {
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

pub(crate) fn read(path: &Path, each: Each<'_>) -> Result<Notes, Failure> {
    let mut file = open(path)?;
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let read = file.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        if read.map_err(|error| unreadable(path, &error))? == 0 {
            break;
        }
        let place = Place::Line(number);
        if line.len() as u64 == LONGEST {
            let why = Failure::new(format!("a line of more than {LONGEST} bytes"));
            return Err(why.at(format!("{}{place}", path.display())));
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        each(match serde_json::from_slice::<Line>(&line) {
            Ok(line) => Ok(Found { wanted: line.into(), place }),
            Err(error) => {
                let text = error.to_string();
                let what = text.split(" at line ").next().unwrap_or_default();
                Err(Bad { place, why: Failure::new(format!("not a line of an export: {what}")) })
            }
        })?;
    }
    Ok(Notes::new())
}

impl From<Line> for NewSourceRequest {
    fn from(line: Line) -> Self {
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
                settings,
                goal: line.objective,
            },
        }
    }
}
