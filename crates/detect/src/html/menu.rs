//! Things in a row: menus that no element and no name marks as such, and what a front page shows.

/// Links in a row, in one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The element that they stand in, by its depth.
    pub(crate) scope: usize,
    /// The pieces of text that they are.
    pub(crate) first: usize,
    pub(crate) end: usize,
    pub(crate) links: usize,
    /// Links with a text that only menus have.
    pub(crate) menu_links: usize,
    pub(crate) letters: usize,
}

/// Entries of menus are shorter, headlines are longer.
const AVERAGE: usize = 25;

impl Run {
    /// Whether it is a menu. A link more or less does not change that, nor does what is around it.
    pub(crate) fn is_menu(&self) -> bool {
        self.menu_links >= 2 && self.links >= 3 && self.letters <= AVERAGE * self.links
    }
}

/// Things in a row, in one element, that their names alone tell to leave out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Items {
    /// The element that they stand in, by its depth.
    pub(crate) scope: usize,
    /// The pieces of text that they are.
    pub(crate) first: usize,
    pub(crate) end: usize,
}
