//! CSS selectors on a page that is read once, from front to back.
//!
//! An element is judged when it begins, so a selector may ask for what is around it and before it,
//! not for what is in it: `:has()` is refused. For `:last-child` and the like the elements are counted
//! in a pass before.

mod compound;
mod matcher;
mod parse;

pub(crate) use compound::Element;
pub(crate) use matcher::{MOST_PARTS, Matcher, Program};
pub(crate) use parse::{Selector, parse};
