//! The pages.

mod lists;
mod texts;

use crate::page::Page;

/// All pages.
pub(crate) fn pages() -> Vec<Page> {
    texts::PAGES
        .iter()
        .chain(lists::PAGES)
        .map(|&(name, template)| Page { name, template })
        .collect()
}
