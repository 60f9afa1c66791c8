//! Which elements selectors match, while a page is read.
//!
//! Each part of each selector has a bit. An element's bits say which selectors are matched up to
//! which part; whether the next part may match is seen from the bits of its parent, its ancestors
//! and its earlier siblings. So an element costs as many steps as there are parts.

use std::collections::HashMap;

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
    /// The selector that it is of.
    owner: usize,
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
    /// The selectors as they are written.
    texts: Vec<String>,
    selects: bool,
    asks_for_type: bool,
    asks_for_end: bool,
}

impl Program {
    /// Of selectors to keep and to drop; `None` if they have too many parts.
    pub(crate) fn new(select: &[Selector], drop: &[Selector]) -> Option<Self> {
        let mut program = Self { selects: !select.is_empty(), ..Self::default() };
        let all = select.iter().map(|it| (it, End::Select));
        for (selector, end) in all.chain(drop.iter().map(|it| (it, End::Drop))) {
            let owner = program.texts.len();
            program.texts.push(selector.text.clone());
            for chain in &selector.chains {
                let last = chain.parts.len() - 1;
                for (at, (combinator, compound)) in chain.parts.iter().enumerate() {
                    program.asks_for_type |= compound.asks_for_type();
                    program.asks_for_end |= compound.asks_for_end();
                    program.parts.push(Part {
                        compound: compound.clone(),
                        combinator: *combinator,
                        ends: (at == last).then_some(end),
                        owner,
                    });
                }
            }
        }
        (program.parts.len() <= MOST_PARTS).then_some(program)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether elements must be counted before they are matched.
    pub(crate) fn asks_for_end(&self) -> bool {
        self.asks_for_end
    }

    /// The selectors as they are written.
    pub(crate) fn texts(&self) -> &[String] {
        &self.texts
    }
}

/// How many elements there are in each, by the order in which they begin.
#[derive(Debug, Default)]
pub(crate) struct Totals {
    children: Vec<u32>,
    of_type: HashMap<(u32, u64), u32>,
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
    /// The place of the element among all.
    number: u32,
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
    /// Parts that some element matches.
    matched: u128,
    next: u32,
    /// Found now, or in a pass before this one.
    totals: Totals,
    counting: bool,
}

impl<'m> Matcher<'m> {
    pub(crate) fn new(program: &'m Program) -> Self {
        Self::begin(program, Totals::default(), program.asks_for_end)
    }

    /// For a second pass over the same page.
    pub(crate) fn again(self) -> Self {
        Self::begin(self.program, self.totals, false)
    }

    fn begin(program: &'m Program, totals: Totals, counting: bool) -> Self {
        let (levels, matched, next) = (Vec::new(), 0, 0);
        let mut matcher = Self { program, levels, matched, next, totals, counting };
        let root = Element { name: "html", attributes: &[] };
        matcher.open(&root);
        matcher
    }

    /// Whether something is to be selected.
    pub(crate) fn selects(&self) -> bool {
        self.program.selects
    }

    /// The selectors that no element matches.
    pub(crate) fn unmatched(&self) -> Vec<String> {
        let ends = self.program.parts.iter().enumerate().filter(|it| it.1.ends.is_some());
        let hit = |owner: usize| {
            ends.clone().any(|(at, part)| part.owner == owner && self.matched & 1 << at != 0)
        };
        let texts = self.program.texts.iter().enumerate();
        texts.filter(|(at, _)| !hit(*at)).map(|(_, text)| text.clone()).collect()
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
        self.matched |= own;
        let around = parent.around | own;
        if let Some(parent) = self.levels.last_mut() {
            parent.last_child = own;
            parent.children |= own;
        }
        let number = self.next;
        self.next = self.next.saturating_add(1);
        self.levels.push(Level { own, around, number, ..Level::default() });
        (dropped, selected)
    }

    fn place(&mut self, element: &Element<'_, '_>) -> Place {
        let by_name = self.program.asks_for_type;
        let Some(parent) = self.levels.last_mut() else {
            if self.counting {
                self.totals.children.push(0);
            }
            return Place { child: 1, of_type: 1, last_child: 1, last_of_type: 1, root: true };
        };
        parent.count += 1;
        let mut of_type = 0;
        let mut name = 0;
        if by_name {
            name = xxh3_64(element.name.to_ascii_lowercase().as_bytes());
            if let Some((_, count)) = parent.names.iter_mut().find(|(it, _)| *it == name) {
                *count += 1;
                of_type = *count;
            } else if parent.names.len() < MOST_NAMES {
                parent.names.push((name, 1));
                of_type = 1;
            }
        }
        let (child, outer) = (parent.count, parent.number);
        if self.counting {
            self.totals.children[outer as usize] += 1;
            self.totals.children.push(0);
            if by_name {
                *self.totals.of_type.entry((outer, name)).or_default() += 1;
            }
        }
        let all = self.totals.children.get(outer as usize).copied().unwrap_or(0);
        let alike = self.totals.of_type.get(&(outer, name)).copied().unwrap_or(0);
        Place {
            child,
            of_type,
            last_child: (all + 1).saturating_sub(child),
            last_of_type: (alike + 1).saturating_sub(of_type),
            root: false,
        }
    }

    /// The innermost element ends.
    pub(crate) fn close(&mut self) {
        if self.levels.len() > 1 {
            self.levels.pop();
        }
    }
}
