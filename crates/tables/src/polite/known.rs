//! Properties of each source, by number.

use crate::error::{Fault, Position, Quoted, TableError};
use crate::names::Names;
use crate::polite::files::{CellFault, Files};
use crate::polite::{COMPLETE, HISTORY, IMPORTANCE, PoliteNotes};
use crate::read::Estimate;
use crate::text::line_map::LineMap;
use crate::value::{self, Range};

/// Sources of the importance file, in order.
pub(super) struct UrlColumns {
    pub(super) ids: Names,
    pub(super) importance: Vec<f64>,
    /// Changes per day; NaN if unknown.
    pub(super) rate: Vec<f64>,
    pub(super) complete: Vec<bool>,
}

impl UrlColumns {
    pub(super) fn read(files: &mut Files<'_>) -> Result<Self, TableError> {
        let mut ids = Names::new();
        let mut importance = Vec::new();
        let mut lines = LineMap::default();
        files.each(IMPORTANCE, is_number_second, |line, [id, score]| {
            required("URL_ID", id)?;
            lines.note(ids.len(), line);
            ids.insert(id).map_err(|first| repeated(id, lines.line(first as usize)))?;
            let value = value::parse(score, Range::NotNegative);
            importance.push(value.map_err(|fault| ("importance", fault))?);
            Ok(())
        })?;
        let (rate, complete) = (vec![f64::NAN; ids.len()], vec![false; ids.len()]);
        Ok(Self { ids, importance, rate, complete })
    }

    pub(super) fn read_complete(
        &mut self,
        files: &mut Files<'_>,
        notes: &mut PoliteNotes,
    ) -> Result<(), TableError> {
        let mut seen = Seen::new(self.ids.len());
        files.each(COMPLETE, is_number_second, |line, [id, rate]| {
            let rate = value::parse(rate, Range::NotNegative);
            let rate = rate.map_err(|fault| ("change_rate", fault))?;
            match self.ids.get(id) {
                None => notes.without_importance += 1,
                Some(row) => {
                    seen.note(id, row, line)?;
                    self.rate[row as usize] = rate;
                    self.complete[row as usize] = true;
                }
            }
            Ok(())
        })
    }

    pub(super) fn read_histories(
        &mut self,
        files: &mut Files<'_>,
        estimate: Estimate<'_>,
        notes: &mut PoliteNotes,
    ) -> Result<(), TableError> {
        let mut seen = Seen::new(self.ids.len());
        files.each(
            HISTORY,
            |[_, offset, _]| offset.parse::<f64>().is_ok(),
            |line, [id, _, text]| {
                let history = parse_history(text).map_err(|fault| ("history", fault))?;
                let Some(row) = self.ids.get(id) else {
                    notes.without_importance += 1;
                    return Ok(());
                };
                seen.note(id, row, line)?;
                let row = row as usize;
                if !self.complete[row] && !history.is_empty() {
                    let rate = value::check(estimate(&history), Range::NotNegative);
                    self.rate[row] = rate.map_err(|fault| ("change_rate", fault))?;
                }
                Ok(())
            },
        )
    }
}

fn is_number_second(cells: &[&str; 2]) -> bool {
    cells[1].parse::<f64>().is_ok()
}

/// Line of each source in one file.
struct Seen(Vec<u64>);

impl Seen {
    fn new(sources: usize) -> Self {
        Self(vec![0; sources])
    }

    fn note(&mut self, id: &str, row: u32, line: u64) -> Result<(), CellFault> {
        match std::mem::replace(&mut self.0[row as usize], line) {
            0 => Ok(()),
            first => Err(repeated(id, first)),
        }
    }
}

pub(super) fn repeated(id: &str, first: u64) -> CellFault {
    ("URL_ID", Fault::Duplicate { value: Quoted::new(id), first: Position::Line(first) })
}

pub(super) fn required(column: &'static str, cell: &str) -> Result<(), CellFault> {
    if cell.is_empty() { Err((column, Fault::Missing)) } else { Ok(()) }
}

/// `[[interval in days, changed 0/1], …]`
fn parse_history(text: &str) -> Result<Vec<(f64, bool)>, Fault> {
    let pairs: Vec<(f64, f64)> =
        serde_json::from_str(text).map_err(|_| Fault::NotAHistory(Quoted::new(text)))?;
    pairs
        .into_iter()
        .map(|(interval, changed)| {
            Ok((value::check(interval, Range::NotNegative)?, value::check_bool(changed)?))
        })
        .collect()
}
