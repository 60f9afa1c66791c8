//! A page with places for noise and places for changes.
//!
//! `{{slot}}` is where noise goes; `[[old|new]]` is what a writer may change.

/// A page to be filled in.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) name: &'static str,
    pub(crate) template: &'static str,
}

/// Where noise goes: in the head of the document, at the top of the page, beside and below the main
/// text, and within it.
pub(crate) const SLOTS: [&str; 6] = ["head", "top", "before", "within", "side", "foot"];

impl Page {
    /// How many changes a writer may make.
    pub(crate) fn changes(&self) -> usize {
        self.template.matches("[[").count()
    }

    /// What one of them is.
    pub(crate) fn change(&self, index: usize) -> &'static str {
        let start = self.template.split("[[").nth(index + 1).unwrap();
        start.split("]]").next().unwrap()
    }

    /// The page with something in each slot, and with one of its changes made.
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
