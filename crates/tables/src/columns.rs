//! Columns that grow cell by cell into a table of sources.

use freshet_model::{Hosts, SourceTable, Strings};

use crate::column::Column;
use crate::error::{Fault, Place, Position, Quoted, TableError};
use crate::names::{Names, Same};
use crate::value::{self, Range};

/// A table of sources in the making. A row is complete when [`Columns::end_row`] says so;
/// cells that were not given by then take their default.
#[derive(Default)]
pub(crate) struct Columns {
    rows: usize,
    ids: Option<Names>,
    importance: Option<Vec<f64>>,
    change_rate: Option<Vec<f64>>,
    complete: Option<Vec<bool>>,
    cost: Option<Vec<f64>>,
    min_rate: Option<Vec<f64>>,
    max_rate: Option<Vec<f64>>,
    hosts: Option<(Names, Vec<u32>)>,
    /// Ids of a table that is read in pieces: one may come twice, and rows need no change rate.
    loose: Option<Strings>,
}

/// Why a cell was refused; rows are not yet places.
#[derive(Debug)]
pub(crate) enum Refused {
    Fault(Column, Fault),
    /// The id of the second row is that of the first.
    Duplicate {
        id: Quoted,
        first: usize,
        second: usize,
    },
    TooMany,
}

impl Refused {
    /// The error to report, for a table in which `position` tells where a row is.
    #[cold]
    pub(crate) fn at(
        self,
        file: &str,
        here: Position,
        position: impl Fn(usize) -> Position,
    ) -> TableError {
        let (column, fault, here) = match self {
            Self::Fault(column, fault) => (column, fault, here),
            Self::Duplicate { id: value, first, second } => {
                let fault = Fault::Duplicate { value, first: position(first) };
                (Column::Id, fault, position(second))
            }
            Self::TooMany => return TableError::TooManySources { file: file.to_owned() },
        };
        let at = Place { file: file.to_owned(), position: here };
        TableError::Value { at, column: column.name(), fault }
    }
}

/// What stands for the host of a source that has none.
const NO_HOST: &str = "";

const fn range(column: Column) -> Range {
    match column {
        Column::Cost => Range::Positive,
        Column::MaxRate => Range::Limit,
        _ => Range::NotNegative,
    }
}

const fn default(column: Column) -> Option<f64> {
    match column {
        Column::Importance | Column::Cost => Some(1.0),
        Column::MinRate => Some(0.0),
        Column::MaxRate => Some(f64::INFINITY),
        _ => None,
    }
}

impl Columns {
    /// No rows yet, in columns that exist from the start.
    pub(crate) fn with(columns: impl IntoIterator<Item = Column>) -> Self {
        let mut all = Self::default();
        for column in columns {
            match column {
                Column::Id => all.ids = Some(Names::new()),
                Column::Complete => all.complete = Some(Vec::new()),
                Column::Host => all.hosts = Some((Names::new(), Vec::new())),
                _ => *all.numbers(column) = Some(Vec::new()),
            }
        }
        all
    }

    /// For a table that is read in pieces.
    pub(crate) fn loose(columns: impl IntoIterator<Item = Column>) -> Self {
        let mut all = Self { loose: Some(Strings::new()), ..Self::default() };
        for column in columns {
            match column {
                Column::Id | Column::Host => {}
                Column::Complete => all.complete = Some(Vec::new()),
                _ => *all.numbers(column) = Some(Vec::new()),
            }
        }
        all
    }

    /// The complete rows, and the cells of none.
    pub(crate) fn take(&mut self) -> SourceTable {
        self.undo_row();
        let mut columns = vec![];
        columns.extend(self.complete.is_some().then_some(Column::Complete));
        columns.extend(Column::NUMBERS.into_iter().filter(|it| self.numbers(*it).is_some()));
        std::mem::replace(self, Self::loose(columns)).into_table()
    }

    /// Forgets the cells of a row that is not complete.
    fn undo_row(&mut self) {
        self.undo_to(self.rows);
    }

    /// Forgets all rows but the first ones.
    pub(crate) fn undo_to(&mut self, rows: usize) {
        self.rows = rows;
        if let Some(ids) = &mut self.loose {
            ids.truncate(rows);
        }
        if let Some(cells) = &mut self.complete {
            cells.truncate(rows);
        }
        for column in Column::NUMBERS {
            if let Some(cells) = self.numbers(column) {
                cells.truncate(rows);
            }
        }
    }

    /// Complete rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Makes the column exist from here on; rows before this one have their default in it.
    pub(crate) fn declare(&mut self, column: Column) -> Result<(), Refused> {
        let rows = self.rows;
        match column {
            Column::Id | Column::Host if self.loose.is_some() => {}
            Column::Id if self.ids.is_none() => {
                let ids = self.ids.insert(Names::new());
                for row in 0..rows {
                    push_id(ids, &(row + 1).to_string())?;
                }
            }
            Column::Host if self.hosts.is_none() => {
                self.hosts = Some((Names::new(), Vec::with_capacity(rows)));
                for _ in 0..rows {
                    self.push_host(NO_HOST);
                }
            }
            Column::Complete => {
                self.complete.get_or_insert_with(|| vec![false; rows]);
            }
            Column::Id | Column::Host => {}
            _ => {
                let missing = if self.loose.is_some() { f64::NAN } else { 0.0 };
                let fill = default(column).unwrap_or(missing);
                self.numbers(column).get_or_insert_with(|| vec![fill; rows]);
            }
        }
        Ok(())
    }

    /// A cell as text, as in CSV; an empty one is a missing one.
    #[inline]
    pub(crate) fn push_text(&mut self, column: Column, text: &str) -> Result<(), Refused> {
        if text.is_empty() {
            return self.push_missing(column);
        }
        let pushed = match column {
            Column::Id | Column::Host => return self.push_name(column, text),
            Column::Complete => {
                value::parse_bool(text).map(|value| push(&mut self.complete, value))
            }
            _ => value::parse(text, range(column)).map(|value| push(self.numbers(column), value)),
        };
        pushed.or_else(|fault| {
            if text.trim().is_empty() {
                self.push_missing(column)
            } else {
                Err(Refused::Fault(column, fault))
            }
        })
    }

    /// A cell as a number.
    #[inline]
    pub(crate) fn push_number(&mut self, column: Column, number: f64) -> Result<(), Refused> {
        let refuse = |fault| Refused::Fault(column, fault);
        match column {
            Column::Id | Column::Host => Err(refuse(Fault::NotAName(Quoted::number(number)))),
            Column::Complete => {
                push(&mut self.complete, value::check_bool(number).map_err(refuse)?);
                Ok(())
            }
            _ => {
                let value = value::check(number, range(column)).map_err(refuse)?;
                push(self.numbers(column), value);
                Ok(())
            }
        }
    }

    pub(crate) fn push_bool(&mut self, value: bool) {
        push(&mut self.complete, value);
    }

    /// The text of an id or a host.
    #[inline]
    pub(crate) fn push_name(&mut self, column: Column, text: &str) -> Result<(), Refused> {
        if text.is_empty() {
            return self.push_missing(column);
        }
        if column == Column::Id {
            if let Some(ids) = &mut self.loose {
                ids.push(text);
                return Ok(());
            }
            return self.ids.as_mut().map_or(Ok(()), |ids| push_id(ids, text));
        }
        self.push_host(text);
        Ok(())
    }

    #[inline]
    fn push_host(&mut self, name: &str) {
        if let Some((names, of_source)) = &mut self.hosts {
            let (Ok(number) | Err(number)) = names.insert(name);
            of_source.push(number);
        }
    }

    /// A cell without a value.
    #[cold]
    pub(crate) fn push_missing(&mut self, column: Column) -> Result<(), Refused> {
        match column {
            Column::Id => {
                if let Some(ids) = &mut self.loose {
                    ids.push("");
                }
                self.ids.as_mut().map_or(Ok(()), |ids| push_id(ids, &(ids.len() + 1).to_string()))
            }
            Column::Complete => {
                push(&mut self.complete, false);
                Ok(())
            }
            Column::Host => {
                self.push_host(NO_HOST);
                Ok(())
            }
            _ => {
                // What is not said of a change rate is NaN, where it need not be said.
                let value = default(column).or(self.loose.as_ref().map(|_| f64::NAN));
                let value = value.ok_or(Refused::Fault(column, Fault::Missing))?;
                push(self.numbers(column), value);
                Ok(())
            }
        }
    }

    /// Completes a row of which some cells may not have been given.
    pub(crate) fn pad_row(&mut self) -> Result<(), Refused> {
        for column in Column::ALL {
            let given = match column {
                Column::Id => {
                    self.loose.as_ref().map(Strings::len).or(self.ids.as_ref().map(Names::len))
                }
                Column::Complete => self.complete.as_ref().map(Vec::len),
                Column::Host => self.hosts.as_ref().map(|(_, of_source)| of_source.len()),
                _ => self.numbers(column).as_ref().map(Vec::len),
            };
            if given == Some(self.rows) {
                self.push_missing(column)?;
            }
        }
        if self.change_rate.is_none() && self.loose.is_none() {
            return Err(Refused::Fault(Column::ChangeRate, Fault::Missing));
        }
        self.end_row()
    }

    /// Completes a row of which every declared column has its cell.
    #[inline]
    pub(crate) fn end_row(&mut self) -> Result<(), Refused> {
        let row = self.rows;
        if let (Some(min), Some(max)) = (&self.min_rate, &self.max_rate)
            && let (Some(&min), Some(&max)) = (min.get(row), max.get(row))
            && max < min
        {
            let fault = Fault::BelowMinRate { max: Quoted::number(max), min: Quoted::number(min) };
            return Err(Refused::Fault(Column::MaxRate, fault));
        }
        if row + 1 >= u32::MAX as usize {
            return Err(Refused::TooMany);
        }
        self.rows += 1;
        Ok(())
    }

    /// Makes sure that no id has occurred twice so far: ids are checked some rows late. Call it
    /// before anything that stopped the reading is reported, for a duplicate came before it.
    pub(crate) fn settle(&mut self) -> Result<(), Refused> {
        let Some(ids) = &mut self.ids else {
            return Ok(());
        };
        ids.settle().map_err(|same| duplicate(ids, same))
    }

    pub(crate) fn into_table(self) -> SourceTable {
        let rows = self.rows;
        SourceTable {
            ids: self.loose.or(self.ids.map(Names::into_strings)),
            importance: self.importance.unwrap_or_else(|| vec![1.0; rows]),
            change_rate: self.change_rate.unwrap_or_else(|| vec![f64::NAN; rows]),
            complete: self.complete,
            cost: self.cost,
            min_rate: self.min_rate,
            max_rate: self.max_rate,
            hosts: self
                .hosts
                .map(|(names, of_source)| Hosts { names: names.into_strings(), of_source }),
        }
    }

    fn numbers(&mut self, column: Column) -> &mut Option<Vec<f64>> {
        match column {
            Column::Importance => &mut self.importance,
            Column::Cost => &mut self.cost,
            Column::MinRate => &mut self.min_rate,
            Column::MaxRate => &mut self.max_rate,
            _ => &mut self.change_rate,
        }
    }
}

fn push<T>(cells: &mut Option<Vec<T>>, value: T) {
    if let Some(cells) = cells {
        cells.push(value);
    }
}

#[inline]
fn push_id(ids: &mut Names, id: &str) -> Result<(), Refused> {
    ids.append(id).map_err(|same| duplicate(ids, same))
}

#[cold]
fn duplicate(ids: &Names, same: Same) -> Refused {
    let id = Quoted::new(ids.text(same.second));
    Refused::Duplicate { id, first: same.first as usize, second: same.second as usize }
}
