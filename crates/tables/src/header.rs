//! Mapping of header names to columns.

use crate::column::Column;
use crate::error::{Place, TableError};
use crate::text::records::Record;

/// Returns the column of each name; `None` is a name to skip.
pub(crate) fn columns<'a>(
    file: &str,
    names: impl Iterator<Item = &'a str>,
    ignore_extra: bool,
) -> Result<Vec<Option<Column>>, TableError> {
    let mut layout = Vec::new();
    let mut unknown: Vec<String> = Vec::new();
    for name in names {
        let name = name.trim();
        let column = Column::named(name);
        if column.is_some() && layout.contains(&column) {
            return Err(TableError::DuplicateColumn {
                file: file.to_owned(),
                name: name.to_owned(),
            });
        }
        if column.is_none() {
            unknown.push(name.to_owned());
        }
        layout.push(column);
    }
    if !unknown.is_empty() && !ignore_extra {
        return Err(unknown_columns(file, unknown));
    }
    Ok(layout)
}

/// Returns an error if a required column is missing.
pub(crate) fn require(
    file: &str,
    layout: &[Option<Column>],
    column: Column,
) -> Result<(), TableError> {
    match layout.contains(&Some(column)) {
        true => Ok(()),
        false => Err(TableError::MissingColumn { file: file.to_owned(), name: column.name() }),
    }
}

pub(crate) fn unknown_columns(file: &str, names: Vec<String>) -> TableError {
    let known = Column::ALL.map(Column::name).to_vec();
    TableError::UnknownColumns { file: file.to_owned(), names, known }
}

/// Positions of the columns of a small table.
pub(crate) struct Layout<const N: usize> {
    places: [Option<usize>; N],
    width: usize,
}

impl<const N: usize> Layout<N> {
    /// Finds the `known` columns; the first `required` of them must exist.
    pub(crate) fn of<'a>(
        file: &str,
        names: impl Iterator<Item = &'a str>,
        known: [&'static str; N],
        required: usize,
        ignore_extra: bool,
    ) -> Result<Self, TableError> {
        let mut layout = Self { places: [None; N], width: 0 };
        let mut unknown: Vec<String> = Vec::new();
        for name in names {
            let name = name.trim();
            match known.iter().position(|known| *known == name) {
                None => unknown.push(name.to_owned()),
                Some(column) if layout.places[column].is_some() => {
                    let (file, name) = (file.to_owned(), name.to_owned());
                    return Err(TableError::DuplicateColumn { file, name });
                }
                Some(column) => layout.places[column] = Some(layout.width),
            }
            layout.width += 1;
        }
        if !unknown.is_empty() && !ignore_extra {
            let known = known.to_vec();
            return Err(TableError::UnknownColumns {
                file: file.to_owned(),
                names: unknown,
                known,
            });
        }
        match (0..required).find(|&column| layout.places[column].is_none()) {
            Some(column) => {
                Err(TableError::MissingColumn { file: file.to_owned(), name: known[column] })
            }
            None => Ok(layout),
        }
    }

    pub(crate) fn has(&self, column: usize) -> bool {
        self.places[column].is_some()
    }

    /// Returns the cells of a row; missing columns are empty.
    pub(crate) fn cells<'a>(
        &self,
        file: &str,
        record: &Record<'a>,
    ) -> Result<[&'a str; N], TableError> {
        if record.len() != self.width {
            let at = Place::line(file, record.line);
            return Err(TableError::Ragged { at, found: record.len(), expected: self.width });
        }
        Ok(self.places.map(|place| place.map_or("", |place| record.cell(place))))
    }
}
