//! One pass from JSON as written to JSON in one form.

use super::lengths::lengths;
use super::number::push_number;
use super::path::{Path, Walker};
use super::string::push_string;

/// Containers in each other, at most.
pub(crate) const DEEPEST: usize = 128;

/// What of it counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    /// Only the values at these paths, if there are any.
    pub(crate) select: Vec<Path>,
    pub(crate) drop: Vec<Path>,
    /// The order of lists does not matter.
    pub(crate) unordered: bool,
}

impl Options {
    /// All paths as they are written.
    pub(crate) fn places(&self) -> impl Iterator<Item = String> {
        self.select.iter().chain(&self.drop).map(|it| it.text.clone())
    }
}

/// Why a text is no JSON that can be brought into one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Not as JSON is written, at this byte.
    At(usize),
    /// More containers in each other than are followed.
    Deep,
}

/// JSON in one form.
#[derive(Debug)]
pub(crate) struct Canonical {
    /// One value to a line.
    pub(crate) text: String,
    /// Paths that lead nowhere.
    pub(crate) unmatched: Vec<String>,
}

/// One or more values, as in JSON lines.
pub(crate) fn canonical(text: &str, options: &Options) -> Result<Canonical, Fault> {
    // Some sites begin with this, to keep their JSON from being run as a script.
    let text = text.strip_prefix(")]}'").unwrap_or(text);
    let mut writer = Writer::new(text, options);
    writer.run()?;
    let unmatched = writer.select.unmatched().chain(writer.drop.unmatched());
    Ok(Canonical { unmatched: unmatched.map(str::to_owned).collect(), text: writer.out })
}

/// What becomes of a value.
#[derive(Clone, Copy)]
struct Fate {
    written: bool,
    dropped: bool,
    /// Stands in a line of its own, not in a container that is written.
    alone: bool,
}

/// A container that is open.
struct Level {
    array: bool,
    count: u64,
    /// How many elements it has, if a path asks for that.
    length: u64,
    fate: Fate,
    /// Where its members begin in the list.
    members: usize,
}

/// A member that is written: where it begins, and where its name ends.
#[derive(Clone, Copy)]
struct Member {
    start: usize,
    name_end: usize,
}

struct Writer<'a> {
    text: &'a str,
    at: usize,
    out: String,
    levels: Vec<Level>,
    members: Vec<Member>,
    scratch: String,
    select: Walker<'a>,
    drop: Walker<'a>,
    unordered: bool,
    /// The lengths of the lists to come.
    lengths: std::vec::IntoIter<u64>,
}

impl<'a> Writer<'a> {
    fn new(text: &'a str, options: &'a Options) -> Self {
        let mut paths = options.select.iter().chain(&options.drop);
        let asked = paths.any(Path::asks_for_end);
        Self {
            lengths: if asked { lengths(text) } else { Vec::new() }.into_iter(),
            text,
            at: 0,
            out: String::with_capacity(text.len()),
            levels: Vec::new(),
            members: Vec::new(),
            scratch: String::new(),
            select: Walker::new(&options.select),
            drop: Walker::new(&options.drop),
            unordered: options.unordered,
        }
    }

    fn run(&mut self) -> Result<(), Fault> {
        self.space();
        if self.peek().is_none() {
            return self.fault();
        }
        while self.peek().is_some() {
            self.document()?;
            self.space();
        }
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault<T>(&self) -> Result<T, Fault> {
        Err(Fault::At(self.at))
    }

    fn space(&mut self) {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(|it| matches!(it, b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// One value with all that is in it.
    fn document(&mut self) -> Result<(), Fault> {
        let (kept, dropped) = (self.select.root(), self.drop.root());
        let written = (kept || self.select.is_empty()) && !dropped;
        self.value(Fate { written, dropped, alone: true })?;
        while let Some(level) = self.levels.last() {
            let (array, first) = (level.array, level.count == 0);
            self.space();
            match self.peek() {
                Some(b']') if array => self.end(),
                Some(b'}') if !array => self.end(),
                Some(b',') if !first => {
                    self.at += 1;
                    self.space();
                    self.child(array)?;
                }
                Some(_) if first => self.child(array)?,
                _ => return self.fault(),
            }
        }
        Ok(())
    }

    /// The next element or member of the innermost container.
    fn child(&mut self, array: bool) -> Result<(), Fault> {
        let last = self.levels.len() - 1;
        let Level { count: index, length, fate: outer, .. } = self.levels[last];
        self.levels[last].count += 1;
        let start = self.out.len();
        let (kept, dropped) = if array {
            (self.select.element(index, length), self.drop.element(index, length))
        } else {
            if self.peek() != Some(b'"') {
                return self.fault();
            }
            self.at = push_string(self.text, self.at, &mut self.out).ok_or(Fault::At(self.at))?;
            let name = &self.out[start + 1..self.out.len() - 1];
            let found = (self.select.member(name), self.drop.member(name));
            self.space();
            if self.peek() != Some(b':') {
                return self.fault();
            }
            self.at += 1;
            self.space();
            found
        };
        let dropped = outer.dropped || dropped;
        let fate =
            Fate { written: (outer.written || kept) && !dropped, dropped, alone: !outer.written };
        if !fate.written || fate.alone {
            self.out.truncate(start);
        } else {
            if !array || self.unordered {
                self.members.push(Member { start, name_end: self.out.len() });
            }
            if !array {
                self.out.push(':');
            }
        }
        self.value(fate)
    }

    /// A value up to its end, or a container up to its beginning.
    fn value(&mut self, fate: Fate) -> Result<(), Fault> {
        let Some(first) = self.peek() else { return self.fault() };
        let array = first == b'[';
        if array || first == b'{' {
            if self.levels.len() >= DEEPEST {
                return Err(Fault::Deep);
            }
            if fate.written {
                self.out.push(char::from(first));
            }
            self.at += 1;
            let length = if array { self.lengths.next().unwrap_or(0) } else { 0 };
            let members = self.members.len();
            self.levels.push(Level { array, count: 0, length, fate, members });
            self.select.enter();
            self.drop.enter();
            return Ok(());
        }
        let start = self.out.len();
        let literal = |text: &str, word: &str| text.starts_with(word).then_some(word.len());
        let rest = &self.text[self.at..];
        self.at = match first {
            b'"' => push_string(self.text, self.at, &mut self.out),
            b't' | b'f' | b'n' => {
                let words = ["true", "false", "null"];
                words.iter().find_map(|it| literal(rest, it)).map(|length| {
                    self.out.push_str(&rest[..length]);
                    self.at + length
                })
            }
            _ => push_number(self.text, self.at, &mut self.out),
        }
        .ok_or(Fault::At(self.at))?;
        if !fate.written {
            self.out.truncate(start);
        }
        self.finish(fate);
        Ok(())
    }

    fn finish(&mut self, fate: Fate) {
        if fate.written {
            self.out.push(if fate.alone { '\n' } else { ',' });
        }
    }

    /// Ends the innermost container.
    fn end(&mut self) {
        self.at += 1;
        let Some(level) = self.levels.pop() else { return };
        self.select.leave();
        self.drop.leave();
        if level.fate.written {
            self.sort(level.members, level.array);
            if self.out.ends_with(',') {
                self.out.pop();
            }
            self.out.push(if level.array { ']' } else { '}' });
        }
        self.members.truncate(level.members);
        self.finish(level.fate);
    }

    /// Puts members in the order of their names, or elements in the order of their text.
    fn sort(&mut self, from: usize, array: bool) {
        let members = &self.members[from..];
        let (Some(first), true) = (members.first(), members.len() > 1) else { return };
        let (start, end) = (first.start, self.out.len());
        let ends = members.iter().skip(1).map(|it| it.start).chain([end]);
        let whole: Vec<(Member, usize)> = members.iter().copied().zip(ends).collect();
        let key = |(member, end): &(Member, usize)| {
            let to = if array { *end } else { member.name_end };
            &self.out.as_bytes()[member.start..to]
        };
        if whole.is_sorted_by_key(key) {
            return;
        }
        let mut sorted = whole.clone();
        // Stable: what stands twice under one name keeps its order.
        sorted.sort_by(|a, b| key(a).cmp(key(b)));
        self.scratch.clear();
        for (member, end) in &sorted {
            self.scratch.push_str(&self.out[member.start..*end]);
        }
        self.out.truncate(start);
        self.out.push_str(&self.scratch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::path::parse;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let found = canonical(text, &Options::default()).map(|it| it.text);
        assert_eq!(found.as_deref(), Ok(expect), "{text}");
    }

    #[track_caller]
    fn chosen(text: &str, select: &[&str], drop: &[&str], expect: &str) {
        let paths = |list: &[&str]| list.iter().map(|it| parse(it).unwrap()).collect();
        let options = Options { select: paths(select), drop: paths(drop), unordered: false };
        assert_eq!(canonical(text, &options).unwrap().text, expect, "{select:?} {drop:?}");
    }

    #[test]
    fn one_form() {
        check(r#" { "b" : 1 , "a" : [ true , null ] } "#, "{\"a\":[true,null],\"b\":1}\n");
        check(
            r#"{"c":{"z":1,"y":{"b":2,"a":3}},"a":{}}"#,
            "{\"a\":{},\"c\":{\"y\":{\"a\":3,\"b\":2},\"z\":1}}\n",
        );
        check("[]", "[]\n");
        check("1.50", "1.5\n");
        check(r#""\u0041\/\n""#, "\"A/\\n\"\n");
        check("{\"a\":1}\n{\"a\":2}\n", "{\"a\":1}\n{\"a\":2}\n");
        check(")]}'\n[1]", "[1]\n");
        check(r#"{"a":1,"a":0}"#, "{\"a\":1,\"a\":0}\n");
    }

    #[test]
    fn what_is_no_json() {
        for text in [
            "",
            "{",
            "[1,]",
            "{\"a\"}",
            "{a:1}",
            "tru",
            "[1 2]",
            "{\"a\":1,}",
            "]",
            "[,1]",
            "\"a",
            "01",
            "-",
        ] {
            assert!(canonical(text, &Options::default()).is_err(), "{text}");
        }
        assert_eq!(canonical(&"[".repeat(200), &Options::default()).unwrap_err(), Fault::Deep);
    }

    #[test]
    fn paths_choose() {
        let text =
            r#"{"items":[{"name":"x","price":1},{"name":"y","price":2}],"time":7,"a/b":{"0":5}}"#;
        chosen(text, &["/items/1/price"], &[], "2\n");
        chosen(text, &["$.items[*].name"], &[], "\"x\"\n\"y\"\n");
        chosen(text, &["$..price"], &[], "1\n2\n");
        chosen(text, &["/items/0"], &["$..name"], "{\"price\":1}\n");
        chosen(text, &[], &["/items", "/a~1b"], "{\"time\":7}\n");
        chosen(text, &["/a~1b/0"], &[], "5\n");
        chosen(text, &["$['items'][1:]['name','price']"], &[], "\"y\"\n2\n");
        chosen(text, &["/nothing"], &[], "");
        chosen(text, &["$"], &["$.items"], "{\"a/b\":{\"0\":5},\"time\":7}\n");
    }

    #[test]
    fn lists_without_order() {
        let options = Options { unordered: true, ..Options::default() };
        let text = |it| canonical(it, &options).unwrap().text;
        assert_eq!(text("[3,{\"b\":1,\"a\":2},1]"), text("[{\"a\":2,\"b\":1},1,3]"));
    }
}
