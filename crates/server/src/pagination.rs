//! Pagination of lists, the same for all routes.

use serde::Serialize;
use utoipa::ToSchema;

use crate::problem::Problem;

/// Maximum and default number of items of a page.
pub(crate) const MAX_LIMIT: usize = 1000;
pub(crate) const DEFAULT_LIMIT: usize = 100;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// Items of the page.
    pub(crate) items: Vec<T>,
    /// Cursor of the next page: pass it as `after`. Null on the last page. A page that is short or
    /// empty is not necessarily the last.
    pub(crate) next: Option<i64>,
}

/// Returns the page size, or the default; refuses a size out of range.
pub(crate) fn check_limit(limit: Option<usize>) -> Result<usize, Problem> {
    match limit {
        None => Ok(DEFAULT_LIMIT),
        Some(limit @ 1..=MAX_LIMIT) => Ok(limit),
        Some(limit) => Err(Problem::invalid(
            "limit",
            format!("limit out of range: {limit} is not between 1 and {MAX_LIMIT}"),
        )),
    }
}

/// Returns the start cursor of a page; refuses a negative one.
pub(crate) fn check_after(after: Option<i64>) -> Result<Option<i64>, Problem> {
    match after.filter(|after| *after < 0) {
        None => Ok(after),
        Some(after) => Err(Problem::invalid(
            "after",
            format!("invalid cursor: {after}; use `next` of the previous page"),
        )),
    }
}
