//! Pages of lists: the same everywhere.

use serde::Serialize;
use utoipa::ToSchema;

use crate::problem::Problem;

/// Items of a page at most, and unless somebody says otherwise.
pub(crate) const MOST: usize = 1000;
pub(crate) const USUAL: usize = 100;

/// Some of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Page<T> {
    /// What is on this page.
    pub(crate) items: Vec<T>,
    /// Where the next page begins: give it as `after`. None if this is the last one. A page can be short,
    /// or empty, and not the last.
    pub(crate) next: Option<i64>,
}

/// How many items are wanted.
pub(crate) fn limit(said: Option<usize>) -> Result<usize, Problem> {
    match said {
        None => Ok(USUAL),
        Some(limit @ 1..=MOST) => Ok(limit),
        Some(limit) => Err(Problem::field("limit", format!("{limit} is not from 1 to {MOST}"))),
    }
}

/// Where a page begins.
pub(crate) fn after(said: Option<i64>) -> Result<Option<i64>, Problem> {
    match said.filter(|after| *after < 0) {
        None => Ok(said),
        Some(after) => Err(Problem::field("after", format!("{after} is not where a page ended"))),
    }
}
