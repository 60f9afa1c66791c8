//! CSS selectors, matched in one pass over a page.
//!
//! An element is matched when it begins, so a selector may depend on the ancestors and the earlier
//! siblings of an element, but not on its content: `:has()` is refused. For `:last-child` and the like,
//! a first pass counts the elements.

mod compound;
mod matcher;
mod parse;

pub(crate) use compound::Element;
pub(crate) use matcher::{MAX_SELECTOR_PARTS, SelectorMatcher, SelectorProgram};
pub(crate) use parse::{SelectorList, parse};
