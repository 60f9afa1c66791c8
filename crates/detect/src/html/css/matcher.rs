//! Which elements selectors match, while a page is read.
//!
//! Each part of each selector has a bit. An element's bits say which selectors are matched up to
//! which part; whether the next part may match is seen from the bits of its parent, its ancestors
//! and its earlier siblings. So an element costs as many steps as there are parts.

use xxhash_rust::xxh3::xxh3_64;

use super::compound::{Compound, Element, Place};
use super::parse::{Combinator, Selector};

/// Parts of all selectors together, at most.
pub(crate) const MOST_PARTS: usize = 128;

#[derive(Clone, Debug)]
struct Part {
    compound: Compound,
    /// How it hangs on the part before it; none for the first.
    combinator: Option<Combinator>,
    /// What a match of it means.
    ends: Option<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Select,
    Drop,
}

/// Selectors ready to be matched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    parts: Vec<Part>,
    selects: bool,
    asks_for_type: bool,
}

impl Program {
    /// Of selectors to keep and to drop; `None` if they have too many parts.
    pub(crate) fn new(select: &[Selector], drop: &[Selector]) -> Option<Self> {
        let mut program = Self { selects: !select.is_empty(), ..Self::default() };
        let all = select.iter().map(|it| (it, End::Select));
        for (selector, end) in all.chain(drop.iter().map(|it| (it, End::Drop))) {
            for chain in &selector.chains {
                let last = chain.parts.len() - 1;
                for (at, (combinator, compound)) in chain.parts.iter().enumerate() {
                    program.asks_for_type |= compound.asks_for_type();
                    program.parts.push(Part {
                        compound: compound.clone(),
                        combinator: *combinator,
                        ends: (at == last).then_some(end),
                    });
                }
            }
        }
        (program.parts.len() <= MOST_PARTS).then_some(program)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }
}

/// What selectors know of an open element.
#[derive(Debug, Default)]
struct Level {
    /// Parts that the element matches.
    own: u128,
    /// Parts that it or an element around it matches.
    around: u128,
    /// Parts that its last child matches, and any of its children so far.
    last_child: u128,
    children: u128,
    count: u32,
    /// How many children of each name.
    names: Vec<(u64, u32)>,
}

/// Names of children that are counted, at most: a hostile page can have many.
const MOST_NAMES: usize = 256;

#[derive(Debug)]
pub(crate) struct Matcher<'m> {
    program: &'m Program,
    levels: Vec<Level>,
}

impl<'m> Matcher<'m> {
    pub(crate) fn new(program: &'m Program) -> Self {
        let mut matcher = Self { program, levels: Vec::new() };
        let root = Element { name: "html", attributes: &[] };
        matcher.open(&root);
        matcher
    }

    /// Whether something is to be selected.
    pub(crate) fn selects(&self) -> bool {
        self.program.selects
    }

    /// An element begins: whether it is dropped, and whether it is selected.
    pub(crate) fn open(&mut self, element: &Element<'_, '_>) -> (bool, bool) {
        let nowhere = Level::default();
        let place = self.place(element);
        let parent = self.levels.last().unwrap_or(&nowhere);
        let (mut own, mut dropped, mut selected) = (0_u128, false, false);
        for (at, part) in self.program.parts.iter().enumerate() {
            let reached = match part.combinator {
                None => u128::MAX,
                Some(Combinator::Descendant) => parent.around << 1,
                Some(Combinator::Child) => parent.own << 1,
                Some(Combinator::Next) => parent.last_child << 1,
                Some(Combinator::Later) => parent.children << 1,
            };
            let bit = 1 << at;
            if reached & bit != 0 && part.compound.matches(element, place) {
                own |= bit;
                dropped |= part.ends == Some(End::Drop);
                selected |= part.ends == Some(End::Select);
            }
        }
        let around = parent.around | own;
        if let Some(parent) = self.levels.last_mut() {
            parent.last_child = own;
            parent.children |= own;
        }
        self.levels.push(Level { own, around, ..Level::default() });
        (dropped, selected)
    }

    fn place(&mut self, element: &Element<'_, '_>) -> Place {
        let by_name = self.program.asks_for_type;
        let Some(parent) = self.levels.last_mut() else {
            return Place { child: 1, of_type: 1, root: true };
        };
        parent.count += 1;
        let mut of_type = 0;
        if by_name {
            let name = xxh3_64(element.name.to_ascii_lowercase().as_bytes());
            if let Some((_, count)) = parent.names.iter_mut().find(|(it, _)| *it == name) {
                *count += 1;
                of_type = *count;
            } else if parent.names.len() < MOST_NAMES {
                parent.names.push((name, 1));
                of_type = 1;
            }
        }
        Place { child: parent.count, of_type, root: false }
    }

    /// The innermost element ends.
    pub(crate) fn close(&mut self) {
        if self.levels.len() > 1 {
            self.levels.pop();
        }
    }
}
