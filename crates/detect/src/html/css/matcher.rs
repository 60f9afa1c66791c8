//! Matches selectors while a page is read.
//!
//! Each compound of each selector has a bit. The bits of an element tell which selectors it matches, and
//! up to which compound. Whether the next compound may match follows from the bits of the parent, the
//! ancestors and the earlier siblings. So an element costs one step for each compound.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::compound::{CompoundSelector, Element, SiblingPosition};
use super::parse::{Combinator, SelectorList};

/// Maximum number of compounds of all selectors together.
pub(crate) const MAX_SELECTOR_PARTS: usize = 128;

/// Maximum number of names of children that are counted: a hostile page can have many.
const MAX_CHILD_TYPES: usize = 256;

#[derive(Clone, Debug)]
struct SelectorPart {
    compound: CompoundSelector,
    /// Combinator with the part before it; none for the first part.
    combinator: Option<Combinator>,
    /// What happens to an element that matches the last part.
    action: Option<SelectorAction>,
    /// Index of the selector list that contains the part.
    list: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SelectorAction {
    Select,
    Drop,
}

/// Compiled selectors.
#[derive(Clone, Debug, Default)]
pub(crate) struct SelectorProgram {
    parts: Vec<SelectorPart>,
    /// The selector lists as written.
    sources: Vec<String>,
    has_selection: bool,
    counts_types: bool,
    counts_from_end: bool,
}

impl SelectorProgram {
    /// Compiles the selectors to keep and to drop. Returns `None` if they have too many parts.
    pub(crate) fn new(select: &[SelectorList], drop: &[SelectorList]) -> Option<Self> {
        let mut program = Self { has_selection: !select.is_empty(), ..Self::default() };
        let all = select.iter().map(|it| (it, SelectorAction::Select));
        for (selectors, action) in all.chain(drop.iter().map(|it| (it, SelectorAction::Drop))) {
            let list = program.sources.len();
            program.sources.push(selectors.source.clone());
            for selector in &selectors.alternatives {
                let last = selector.parts.len() - 1;
                for (at, (combinator, compound)) in selector.parts.iter().enumerate() {
                    program.counts_types |= compound.counts_types();
                    program.counts_from_end |= compound.counts_from_end();
                    program.parts.push(SelectorPart {
                        compound: compound.clone(),
                        combinator: *combinator,
                        action: (at == last).then_some(action),
                        list,
                    });
                }
            }
        }
        (program.parts.len() <= MAX_SELECTOR_PARTS).then_some(program)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// True if elements must be counted in a first pass.
    pub(crate) fn counts_from_end(&self) -> bool {
        self.counts_from_end
    }

    /// The selector lists as written.
    pub(crate) fn sources(&self) -> &[String] {
        &self.sources
    }
}

/// The number of children of each element, by the order in which the elements begin.
#[derive(Debug, Default)]
pub(crate) struct ChildTotals {
    children: Vec<u32>,
    /// Number of children of one name, by element and hash of the name.
    by_type: HashMap<(u32, u64), u32>,
}

/// The state of an open element.
#[derive(Debug, Default)]
struct OpenLevel {
    /// Parts that the element matches.
    matched: u128,
    /// Parts that the element or an ancestor matches.
    inherited: u128,
    /// Parts that its last child matches, and any of its children so far.
    last_child: u128,
    children: u128,
    /// Index of the element in the page.
    number: u32,
    child_count: u32,
    /// Number of children of each name, by the hash of the name.
    type_counts: Vec<(u64, u32)>,
}

#[derive(Debug)]
pub(crate) struct SelectorMatcher<'m> {
    program: &'m SelectorProgram,
    levels: Vec<OpenLevel>,
    /// Parts that any element matches.
    matched: u128,
    next_number: u32,
    /// Totals of this pass or the one before.
    totals: ChildTotals,
    is_counting: bool,
}

impl<'m> SelectorMatcher<'m> {
    pub(crate) fn new(program: &'m SelectorProgram) -> Self {
        Self::with_totals(program, ChildTotals::default(), program.counts_from_end)
    }

    /// Returns a matcher for a second pass over the same page.
    pub(crate) fn second_pass(self) -> Self {
        Self::with_totals(self.program, self.totals, false)
    }

    fn with_totals(program: &'m SelectorProgram, totals: ChildTotals, is_counting: bool) -> Self {
        let (levels, matched, next_number) = (Vec::new(), 0, 0);
        let mut matcher = Self { program, levels, matched, next_number, totals, is_counting };
        let root = Element { name: "html", attributes: &[] };
        matcher.open(&root);
        matcher
    }

    /// True if only selected elements count.
    pub(crate) fn has_selection(&self) -> bool {
        self.program.has_selection
    }

    /// Returns the selector lists that no element matches.
    pub(crate) fn unmatched(&self) -> Vec<String> {
        let last_parts = self.program.parts.iter().enumerate().filter(|it| it.1.action.is_some());
        let has_match = |list: usize| {
            last_parts.clone().any(|(at, part)| part.list == list && self.matched & 1 << at != 0)
        };
        let sources = self.program.sources.iter().enumerate();
        sources.filter(|(at, _)| !has_match(*at)).map(|(_, source)| source.clone()).collect()
    }

    /// Begins an element. Returns whether it is dropped, and whether it is selected.
    pub(crate) fn open(&mut self, element: &Element<'_, '_>) -> (bool, bool) {
        let no_parent = OpenLevel::default();
        let position = self.count_element(element);
        let parent = self.levels.last().unwrap_or(&no_parent);
        let (mut matched, mut is_dropped, mut is_selected) = (0_u128, false, false);
        for (at, part) in self.program.parts.iter().enumerate() {
            let may_match = match part.combinator {
                None => u128::MAX,
                Some(Combinator::Descendant) => parent.inherited << 1,
                Some(Combinator::Child) => parent.matched << 1,
                Some(Combinator::NextSibling) => parent.last_child << 1,
                Some(Combinator::SubsequentSibling) => parent.children << 1,
            };
            let bit = 1 << at;
            if may_match & bit != 0 && part.compound.matches(element, position) {
                matched |= bit;
                is_dropped |= part.action == Some(SelectorAction::Drop);
                is_selected |= part.action == Some(SelectorAction::Select);
            }
        }
        self.matched |= matched;
        let inherited = parent.inherited | matched;
        if let Some(parent) = self.levels.last_mut() {
            parent.last_child = matched;
            parent.children |= matched;
        }
        let number = self.next_number;
        self.next_number = self.next_number.saturating_add(1);
        self.levels.push(OpenLevel { matched, inherited, number, ..OpenLevel::default() });
        (is_dropped, is_selected)
    }

    /// Counts an element in its parent, and returns its position.
    fn count_element(&mut self, element: &Element<'_, '_>) -> SiblingPosition {
        let counts_types = self.program.counts_types;
        let Some(parent) = self.levels.last_mut() else {
            if self.is_counting {
                self.totals.children.push(0);
            }
            return SiblingPosition::ROOT;
        };
        parent.child_count += 1;
        let mut type_index = 0;
        let mut name = 0;
        if counts_types {
            name = xxh3_64(element.name.to_ascii_lowercase().as_bytes());
            if let Some((_, count)) = parent.type_counts.iter_mut().find(|(it, _)| *it == name) {
                *count += 1;
                type_index = *count;
            } else if parent.type_counts.len() < MAX_CHILD_TYPES {
                parent.type_counts.push((name, 1));
                type_index = 1;
            }
        }
        let (index, parent) = (parent.child_count, parent.number);
        if self.is_counting {
            self.totals.children[parent as usize] += 1;
            self.totals.children.push(0);
            if counts_types {
                *self.totals.by_type.entry((parent, name)).or_default() += 1;
            }
        }
        let children = self.totals.children.get(parent as usize).copied().unwrap_or(0);
        let of_type = self.totals.by_type.get(&(parent, name)).copied().unwrap_or(0);
        SiblingPosition {
            index,
            type_index,
            index_from_end: (children + 1).saturating_sub(index),
            type_index_from_end: (of_type + 1).saturating_sub(type_index),
            is_root: false,
        }
    }

    /// Ends the innermost element.
    pub(crate) fn close(&mut self) {
        if self.levels.len() > 1 {
            self.levels.pop();
        }
    }
}
