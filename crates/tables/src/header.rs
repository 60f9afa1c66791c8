//! From the names in a header to columns.

use crate::column::Column;
use crate::error::TableError;

/// The column of each name; `None` is a name to skip.
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
    if !layout.contains(&Some(Column::ChangeRate)) {
        let name = Column::ChangeRate.name();
        return Err(TableError::MissingColumn { file: file.to_owned(), name });
    }
    Ok(layout)
}

pub(crate) fn unknown_columns(file: &str, names: Vec<String>) -> TableError {
    let known = Column::ALL.map(Column::name).to_vec();
    TableError::UnknownColumns { file: file.to_owned(), names, known }
}
