//! Pages with slots for noise and for changes.
//!
//! `{{slot}}` is a slot for noise; `[[old|new]]` is a change that a writer may make.

/// A page template.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) name: &'static str,
    pub(crate) template: &'static str,
}

/// Slots for noise: in the head of the document, at the top of the page, before the main text, in
/// it, beside it, and in the foot.
pub(crate) const SLOTS: [&str; 6] = ["head", "top", "before", "within", "side", "foot"];

impl Page {
    /// Number of changes that a writer may make.
    pub(crate) fn changes(&self) -> usize {
        self.template.matches("[[").count()
    }

    /// Source of a change.
    pub(crate) fn change(&self, index: usize) -> &'static str {
        let start = self.template.split("[[").nth(index + 1).unwrap();
        start.split("]]").next().unwrap()
    }

    /// Fills the slots, and makes one of the changes.
    pub(crate) fn fill(
        &self,
        mut slot: impl FnMut(&str) -> String,
        change: Option<usize>,
    ) -> String {
        let mut html = String::new();
        for (index, part) in self.template.split("[[").enumerate() {
            let Some(index) = index.checked_sub(1) else {
                html.push_str(part);
                continue;
            };
            let (choice, rest) = part.split_once("]]").unwrap();
            let (old, new) = choice.split_once('|').unwrap();
            html.push_str(if change == Some(index) { new } else { old });
            html.push_str(rest);
        }
        for name in SLOTS {
            let mark = format!("{{{{{name}}}}}");
            while let Some(at) = html.find(&mark) {
                let filling = slot(name);
                html.replace_range(at..at + mark.len(), &filling);
            }
        }
        html
    }

    pub(crate) fn plain(&self) -> String {
        self.fill(|_| String::new(), None)
    }
}
