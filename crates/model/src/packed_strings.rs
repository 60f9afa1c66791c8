//! List of many short strings in one allocation.

/// List of strings, stored in one buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackedStrings {
    text: String,
    ends: Vec<usize>,
}

impl PackedStrings {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a string.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(self.text.len());
    }

    /// Keeps the first `len` strings.
    pub fn truncate(&mut self, len: usize) {
        if len < self.ends.len() {
            self.ends.truncate(len);
            self.text.truncate(self.ends.last().copied().unwrap_or_default());
        }
    }

    /// Returns the string at `index`, if there is one.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        Some(&self.text[start..end])
    }

    /// Returns the number of strings.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Iterates over the strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len()).map(|index| self.get(index).unwrap_or_default())
    }
}

impl<'a> FromIterator<&'a str> for PackedStrings {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        let mut list = Self::new();
        for text in texts {
            list.push(text);
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_returned_in_order() {
        let list: PackedStrings = ["a", "", "ccc"].into_iter().collect();
        assert_eq!(list.iter().collect::<Vec<_>>(), ["a", "", "ccc"]);
        assert_eq!((list.get(1), list.get(3)), (Some(""), None));
    }

    #[test]
    fn strings_can_be_appended_after_truncation() {
        let mut list: PackedStrings = ["a", "bb", "ccc"].into_iter().collect();
        list.truncate(1);
        list.push("d");
        assert_eq!(list.iter().collect::<Vec<_>>(), ["a", "d"]);
        list.truncate(0);
        list.truncate(5);
        assert!(list.is_empty());
    }
}
