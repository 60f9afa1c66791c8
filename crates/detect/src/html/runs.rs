//! Runs of similar elements: menus that no element or name marks as such, and the items of a front page.

/// Consecutive links with the same parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkRun {
    /// Depth of the parent.
    pub(crate) parent_depth: usize,
    /// Range of text nodes.
    pub(crate) first_node: usize,
    pub(crate) end_node: usize,
    pub(crate) link_count: usize,
    /// Number of links with a text that only menus have.
    pub(crate) menu_link_count: usize,
    pub(crate) text_len: usize,
}

/// Entries of menus are shorter on average, and headlines are longer, in bytes.
const MAX_AVERAGE_LEN: usize = 25;

impl LinkRun {
    /// True if the run is a menu. This does not depend on one link more or less, nor on the text around.
    pub(crate) fn is_menu(&self) -> bool {
        self.menu_link_count >= 2
            && self.link_count >= 3
            && self.text_len <= MAX_AVERAGE_LEN * self.link_count
    }
}

/// Consecutive elements with the same parent that are excluded by their names alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ItemRun {
    /// Depth of the parent.
    pub(crate) parent_depth: usize,
    /// Range of text nodes.
    pub(crate) first_node: usize,
    pub(crate) end_node: usize,
}
