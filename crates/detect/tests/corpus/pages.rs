//! Page templates.

mod lists;
mod texts;

use crate::page::Page;

/// Returns all page templates.
pub(crate) fn pages() -> Vec<Page> {
    texts::PAGES
        .iter()
        .chain(lists::PAGES)
        .map(|&(name, template)| Page { name, template })
        .collect()
}
