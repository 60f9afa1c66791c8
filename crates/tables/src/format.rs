//! File formats of tables, by extension.

use std::path::Path;

use crate::error::TableError;

/// File format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Delimiter-separated values with a header.
    Separated {
        /// Delimiter: a comma or a tab.
        separator: u8,
        /// True if the file is compressed with gzip.
        gzip: bool,
    },
    /// One JSON object per line.
    JsonLines {
        /// True if the file is compressed with gzip.
        gzip: bool,
    },
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// Comma-separated values, not compressed.
    pub const CSV: Self = Self::Separated { separator: b',', gzip: false };

    /// Returns the format of a file extension: `.csv`, `.tsv`, `.jsonl`, `.ndjson`, each also
    /// followed by `.gz`, and `.parquet`.
    ///
    /// # Errors
    /// Returns [`TableError::UnknownFormat`] for any other extension.
    pub fn of(path: &Path) -> Result<Self, TableError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let plain = name.strip_suffix(".gz");
        let gzip = plain.is_some();
        match plain.unwrap_or(&name).rsplit_once('.').map(|(_, extension)| extension) {
            Some("csv") => Ok(Self::Separated { separator: b',', gzip }),
            Some("tsv") => Ok(Self::Separated { separator: b'\t', gzip }),
            Some("jsonl" | "ndjson") => Ok(Self::JsonLines { gzip }),
            Some("parquet") if !gzip => Ok(Self::Parquet),
            _ => Err(TableError::UnknownFormat { path: path.to_owned() }),
        }
    }

    pub(crate) fn gzip(self) -> bool {
        matches!(self, Self::Separated { gzip: true, .. } | Self::JsonLines { gzip: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expect: Option<Format>) {
        assert_eq!(Format::of(Path::new(name)).ok(), expect);
    }

    #[test]
    fn extensions_name_formats() {
        check("a/b.csv", Some(Format::CSV));
        check("B.CSV", Some(Format::CSV));
        check("b.tsv", Some(Format::Separated { separator: b'\t', gzip: false }));
        check("b.csv.gz", Some(Format::Separated { separator: b',', gzip: true }));
        check("b.v2.jsonl", Some(Format::JsonLines { gzip: false }));
        check("b.ndjson.gz", Some(Format::JsonLines { gzip: true }));
        check("b.parquet", Some(Format::Parquet));
        check("b.parquet.gz", None);
        check("b.xlsx", None);
        check("csv", None);
        check("", None);
    }

    #[test]
    fn an_unknown_extension_is_told_the_known_ones() {
        let error = Format::of(Path::new("s.xlsx")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "s.xlsx: unknown extension (known: .csv, .tsv, .jsonl, .ndjson, each also with .gz, \
             and .parquet)"
        );
    }
}
