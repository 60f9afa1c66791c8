//! Compound selectors: the part of a selector that one element matches.

use crate::html::tokenizer::{Attribute, attribute};

/// The name and attributes of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'e, 'a> {
    pub(crate) name: &'a str,
    pub(crate) attributes: &'e [Attribute<'a>],
}

/// The position of an element among its siblings, from 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SiblingPosition {
    pub(crate) index: u32,
    /// Among siblings of the same name.
    pub(crate) type_index: u32,
    /// Counted from the last sibling.
    pub(crate) index_from_end: u32,
    pub(crate) type_index_from_end: u32,
    pub(crate) is_root: bool,
}

impl SiblingPosition {
    pub(crate) const ROOT: Self =
        Self { index: 1, type_index: 1, index_from_end: 1, type_index_from_end: 1, is_root: true };
}

/// Simple selectors that must all match.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CompoundSelector {
    pub(crate) parts: Vec<SimpleSelector>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SimpleSelector {
    /// Element name in lower case.
    Name(String),
    Id(String),
    Class(String),
    Attribute {
        name: String,
        operator: AttributeOperator,
        value: String,
        ignores_case: bool,
    },
    NthChild(NthPattern),
    NthOfType(NthPattern),
    NthLastChild(NthPattern),
    NthLastOfType(NthPattern),
    Root,
    /// Matches if any of the list matches.
    Is(Vec<CompoundSelector>),
    Not(Vec<CompoundSelector>),
}

/// The comparison of an attribute with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AttributeOperator {
    Present,
    Equal,
    /// Equal to one of several words.
    Word,
    /// Equal to the value, or begins with the value and a hyphen.
    DashMatch,
    Prefix,
    Suffix,
    Contains,
}

/// Indices of the form `step·n + offset`, for n = 0, 1, 2, …
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NthPattern {
    pub(crate) step: i32,
    pub(crate) offset: i32,
}

impl NthPattern {
    fn matches(self, index: u32) -> bool {
        let distance = i64::from(index) - i64::from(self.offset);
        let step = i64::from(self.step);
        if step == 0 { distance == 0 } else { distance % step == 0 && distance / step >= 0 }
    }
}

impl CompoundSelector {
    pub(crate) fn matches(&self, element: &Element<'_, '_>, position: SiblingPosition) -> bool {
        self.parts.iter().all(|test| test.matches(element, position))
    }

    /// True if it depends on the number of siblings of the same name.
    pub(crate) fn counts_types(&self) -> bool {
        self.any_part(|it| {
            matches!(it, SimpleSelector::NthOfType(_) | SimpleSelector::NthLastOfType(_))
        })
    }

    /// True if it depends on the number of later siblings.
    pub(crate) fn counts_from_end(&self) -> bool {
        self.any_part(|it| {
            matches!(it, SimpleSelector::NthLastChild(_) | SimpleSelector::NthLastOfType(_))
        })
    }

    fn any_part(&self, is_match: fn(&SimpleSelector) -> bool) -> bool {
        self.parts.iter().any(|it| match it {
            SimpleSelector::Is(list) | SimpleSelector::Not(list) => {
                list.iter().any(|it| it.any_part(is_match))
            }
            _ => is_match(it),
        })
    }
}

impl SimpleSelector {
    fn matches(&self, element: &Element<'_, '_>, position: SiblingPosition) -> bool {
        let get = |name: &str| attribute(element.attributes, name);
        match self {
            Self::Name(name) => element.name.eq_ignore_ascii_case(name),
            Self::Id(id) => get("id") == Some(id),
            Self::Class(class) => {
                get("class").is_some_and(|it| it.split_ascii_whitespace().any(|it| it == class))
            }
            Self::Attribute { name, operator, value, ignores_case } => {
                get(name).is_some_and(|found| {
                    if *ignores_case {
                        operator.matches(&found.to_ascii_lowercase(), &value.to_ascii_lowercase())
                    } else {
                        operator.matches(found, value)
                    }
                })
            }
            Self::NthChild(nth) => nth.matches(position.index),
            Self::NthOfType(nth) => nth.matches(position.type_index),
            Self::NthLastChild(nth) => nth.matches(position.index_from_end),
            Self::NthLastOfType(nth) => nth.matches(position.type_index_from_end),
            Self::Root => position.is_root,
            Self::Is(list) => list.iter().any(|it| it.matches(element, position)),
            Self::Not(list) => !list.iter().any(|it| it.matches(element, position)),
        }
    }
}

impl AttributeOperator {
    fn matches(self, found: &str, value: &str) -> bool {
        let some = !value.is_empty();
        match self {
            Self::Present => true,
            Self::Equal => found == value,
            Self::Word => some && found.split_ascii_whitespace().any(|it| it == value),
            Self::DashMatch => {
                found.strip_prefix(value).is_some_and(|it| it.is_empty() || it.starts_with('-'))
            }
            Self::Prefix => some && found.starts_with(value),
            Self::Suffix => some && found.ends_with(value),
            Self::Contains => some && found.contains(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nth_patterns_match_their_indices() {
        let matches = |step, offset| {
            (1..=7).filter(|it| NthPattern { step, offset }.matches(*it)).collect::<Vec<_>>()
        };
        assert_eq!(matches(2, 1), [1, 3, 5, 7]);
        assert_eq!(matches(0, 3), [3]);
        assert_eq!(matches(-1, 3), [1, 2, 3]);
        assert_eq!(matches(3, 0), [3, 6]);
        assert_eq!(matches(1, 5), [5, 6, 7]);
    }
}
