//! What a selector asks of one element.

use crate::html::tokenizer::{Attribute, attribute};

/// An element as its opening tag shows it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'e, 'a> {
    pub(crate) name: &'a str,
    pub(crate) attributes: &'e [Attribute<'a>],
}

/// Where an element stands among those in the same parent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// From one.
    pub(crate) child: u32,
    /// Among those of the same name.
    pub(crate) of_type: u32,
    /// The same, counted from the last.
    pub(crate) last_child: u32,
    pub(crate) last_of_type: u32,
    pub(crate) root: bool,
}

/// All of these must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Compound {
    pub(crate) tests: Vec<Test>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    /// In lower case.
    Name(String),
    Id(String),
    Class(String),
    Attribute {
        name: String,
        how: How,
        value: String,
        any_case: bool,
    },
    NthChild(Nth),
    NthOfType(Nth),
    NthLastChild(Nth),
    NthLastOfType(Nth),
    Root,
    /// One of these.
    Is(Vec<Compound>),
    Not(Vec<Compound>),
}

/// How the value of an attribute is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Present,
    Equal,
    /// One of several words.
    Word,
    /// The value, or the value and a hyphen.
    Dash,
    Prefix,
    Suffix,
    Contains,
}

/// `an + b`, for n = 0, 1, 2, …
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Nth {
    pub(crate) a: i32,
    pub(crate) b: i32,
}

impl Nth {
    fn holds(self, index: u32) -> bool {
        let distance = i64::from(index) - i64::from(self.b);
        let a = i64::from(self.a);
        if a == 0 { distance == 0 } else { distance % a == 0 && distance / a >= 0 }
    }
}

impl Compound {
    pub(crate) fn matches(&self, element: &Element<'_, '_>, place: Place) -> bool {
        self.tests.iter().all(|test| test.holds(element, place))
    }

    pub(crate) fn asks_for_type(&self) -> bool {
        self.asks(|it| matches!(it, Test::NthOfType(_) | Test::NthLastOfType(_)))
    }

    /// Whether it asks how many elements follow.
    pub(crate) fn asks_for_end(&self) -> bool {
        self.asks(|it| matches!(it, Test::NthLastChild(_) | Test::NthLastOfType(_)))
    }

    fn asks(&self, what: fn(&Test) -> bool) -> bool {
        self.tests.iter().any(|it| match it {
            Test::Is(list) | Test::Not(list) => list.iter().any(|it| it.asks(what)),
            _ => what(it),
        })
    }
}

impl Test {
    fn holds(&self, element: &Element<'_, '_>, place: Place) -> bool {
        let get = |name: &str| attribute(element.attributes, name);
        match self {
            Self::Name(name) => element.name.eq_ignore_ascii_case(name),
            Self::Id(id) => get("id") == Some(id),
            Self::Class(class) => {
                get("class").is_some_and(|it| it.split_ascii_whitespace().any(|it| it == class))
            }
            Self::Attribute { name, how, value, any_case } => get(name).is_some_and(|found| {
                if *any_case {
                    how.holds(&found.to_ascii_lowercase(), &value.to_ascii_lowercase())
                } else {
                    how.holds(found, value)
                }
            }),
            Self::NthChild(nth) => nth.holds(place.child),
            Self::NthOfType(nth) => nth.holds(place.of_type),
            Self::NthLastChild(nth) => nth.holds(place.last_child),
            Self::NthLastOfType(nth) => nth.holds(place.last_of_type),
            Self::Root => place.root,
            Self::Is(list) => list.iter().any(|it| it.matches(element, place)),
            Self::Not(list) => !list.iter().any(|it| it.matches(element, place)),
        }
    }
}

impl How {
    fn holds(self, found: &str, value: &str) -> bool {
        let some = !value.is_empty();
        match self {
            Self::Present => true,
            Self::Equal => found == value,
            Self::Word => some && found.split_ascii_whitespace().any(|it| it == value),
            Self::Dash => {
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
    fn nth() {
        let holds = |a, b| (1..=7).filter(|it| Nth { a, b }.holds(*it)).collect::<Vec<_>>();
        assert_eq!(holds(2, 1), [1, 3, 5, 7]);
        assert_eq!(holds(0, 3), [3]);
        assert_eq!(holds(-1, 3), [1, 2, 3]);
        assert_eq!(holds(3, 0), [3, 6]);
        assert_eq!(holds(1, 5), [5, 6, 7]);
    }
}
