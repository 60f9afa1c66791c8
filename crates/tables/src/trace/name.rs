//! File names of a trace.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::error::TableError;

/// Splits the name of a trace at `.csv`.
fn split(path: &Path) -> Option<(&OsStr, OsString)> {
    let is = |ending: &OsStr, expect| ending.eq_ignore_ascii_case(expect);
    let mut inner = path;
    let mut ending = path.extension()?.to_owned();
    if is(&ending, "gz") {
        inner = Path::new(path.file_stem()?);
        let csv = inner.extension()?;
        ending = [csv, OsStr::new("."), &ending].into_iter().collect();
    }
    is(inner.extension()?, "csv").then_some((inner.file_stem()?, ending))
}

fn pages(path: &Path, stem: &OsStr, ending: &OsStr) -> PathBuf {
    let name: OsString = [stem, OsStr::new("_pages."), ending].into_iter().collect();
    path.with_file_name(name)
}

/// Returns the path of the page file: `NAME_pages.csv` for `NAME.csv`, and the same with `.gz`.
///
/// # Errors
/// Returns [`TableError::NotATrace`] for another file name.
pub fn pages_path(trace: &Path) -> Result<PathBuf, TableError> {
    let (stem, ending) =
        split(trace).ok_or_else(|| TableError::NotATrace { path: trace.to_owned() })?;
    Ok(pages(trace, stem, &ending))
}

/// Returns the existing page file of a trace, compressed or not; the form of the
/// trace is preferred.
#[must_use]
pub fn pages_beside(trace: &Path) -> Option<PathBuf> {
    let (stem, ending) = split(trace)?;
    let endings = [ending, OsString::from("csv.gz"), OsString::from("csv")];
    endings.iter().map(|ending| pages(trace, stem, ending)).find(|path| path.is_file())
}

pub(super) fn is_gzip(trace: &Path) -> Result<bool, TableError> {
    pages_path(trace)?;
    Ok(trace.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(trace: &str, expect: Option<&str>) {
        let got = pages_path(Path::new(trace)).ok();
        assert_eq!(got.as_deref(), expect.map(Path::new));
    }

    #[test]
    fn pages_lie_beside_the_trace() {
        check("a/mdn.csv", Some("a/mdn_pages.csv"));
        check("mdn.v2.csv.gz", Some("mdn.v2_pages.csv.gz"));
        check("MDN.CSV.GZ", Some("MDN_pages.CSV.GZ"));
        check("mdn.gz", None);
        check("mdn.tsv", None);
        check("mdn", None);
        check(".csv", None);
        check(".csv.gz", None);
        check("-", None);
        check("", None);
    }
}
