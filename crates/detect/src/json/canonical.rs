//! Converts JSON to its canonical form in one pass.

use super::list_lengths::list_lengths;
use super::number::push_number;
use super::path::{JsonPath, PathMatcher};
use super::string::push_string;

/// Maximum depth of nested containers.
pub(crate) const MAX_DEPTH: usize = 128;

/// Settings of the conversion.
#[derive(Clone, Debug, Default)]
pub(crate) struct JsonOptions {
    /// Only the values at these paths are written, if there are any.
    pub(crate) select: Vec<JsonPath>,
    pub(crate) drop: Vec<JsonPath>,
    /// The order of lists is not significant.
    pub(crate) unordered: bool,
}

impl JsonOptions {
    /// Returns all paths as written.
    pub(crate) fn path_sources(&self) -> impl Iterator<Item = String> {
        self.select.iter().chain(&self.drop).map(|it| it.text.clone())
    }
}

/// The reason why a text has no canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonError {
    /// Syntax error at this byte.
    Syntax(usize),
    /// Too many nested containers.
    TooDeep,
}

/// Canonical JSON.
#[derive(Debug)]
pub(crate) struct CanonicalJson {
    /// One value in each line.
    pub(crate) text: String,
    /// Paths that match nothing.
    pub(crate) unmatched: Vec<String>,
}

/// Converts one or more values, as in JSON Lines.
pub(crate) fn canonicalize(text: &str, options: &JsonOptions) -> Result<CanonicalJson, JsonError> {
    // Some sites begin with this prefix, so that browsers cannot run the JSON as a script.
    let text = text.strip_prefix(")]}'").unwrap_or(text);
    let mut writer = Canonicalizer::new(text, options);
    writer.run()?;
    let unmatched = writer.select.unmatched().chain(writer.drop.unmatched());
    Ok(CanonicalJson { unmatched: unmatched.map(str::to_owned).collect(), text: writer.out })
}

/// How a value is written.
#[derive(Clone, Copy)]
struct ValueOutput {
    is_written: bool,
    is_dropped: bool,
    /// The value has a line of its own: its container is not written.
    is_own_line: bool,
}

/// An open container.
struct Container {
    is_array: bool,
    count: u64,
    /// Number of elements, if a path depends on it.
    length: u64,
    output: ValueOutput,
    /// Start of its members in the list of members.
    members: usize,
}

/// Offsets of a written member: its start, and the end of its name.
#[derive(Clone, Copy)]
struct Member {
    start: usize,
    name_end: usize,
}

struct Canonicalizer<'a> {
    text: &'a str,
    at: usize,
    out: String,
    containers: Vec<Container>,
    members: Vec<Member>,
    sort_buffer: String,
    select: PathMatcher<'a>,
    drop: PathMatcher<'a>,
    unordered: bool,
    /// Lengths of the lists to come.
    list_lengths: std::vec::IntoIter<u64>,
}

impl<'a> Canonicalizer<'a> {
    fn new(text: &'a str, options: &'a JsonOptions) -> Self {
        let mut paths = options.select.iter().chain(&options.drop);
        let needs_lengths = paths.any(JsonPath::counts_from_end);
        Self {
            list_lengths: if needs_lengths { list_lengths(text) } else { Vec::new() }.into_iter(),
            text,
            at: 0,
            out: String::with_capacity(text.len()),
            containers: Vec::new(),
            members: Vec::new(),
            sort_buffer: String::new(),
            select: PathMatcher::new(&options.select),
            drop: PathMatcher::new(&options.drop),
            unordered: options.unordered,
        }
    }

    fn run(&mut self) -> Result<(), JsonError> {
        self.skip_space();
        if self.peek().is_none() {
            return self.syntax_error();
        }
        while self.peek().is_some() {
            self.convert_document()?;
            self.skip_space();
        }
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn syntax_error<T>(&self) -> Result<T, JsonError> {
        Err(JsonError::Syntax(self.at))
    }

    fn skip_space(&mut self) {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(|it| matches!(it, b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// Converts a value with everything in it.
    fn convert_document(&mut self) -> Result<(), JsonError> {
        let (is_selected, is_dropped) = (self.select.match_root(), self.drop.match_root());
        let is_written = (is_selected || self.select.is_empty()) && !is_dropped;
        self.convert_value(ValueOutput { is_written, is_dropped, is_own_line: true })?;
        while let Some(container) = self.containers.last() {
            let (is_array, first) = (container.is_array, container.count == 0);
            self.skip_space();
            match self.peek() {
                Some(b']') if is_array => self.end_container(),
                Some(b'}') if !is_array => self.end_container(),
                Some(b',') if !first => {
                    self.at += 1;
                    self.skip_space();
                    self.convert_child(is_array)?;
                }
                Some(_) if first => self.convert_child(is_array)?,
                _ => return self.syntax_error(),
            }
        }
        Ok(())
    }

    /// Converts the next element or member of the innermost container.
    fn convert_child(&mut self, is_array: bool) -> Result<(), JsonError> {
        let last = self.containers.len() - 1;
        let Container { count: index, length, output: outer, .. } = self.containers[last];
        self.containers[last].count += 1;
        let start = self.out.len();
        let (is_selected, is_dropped) = if is_array {
            (self.select.match_element(index, length), self.drop.match_element(index, length))
        } else {
            if self.peek() != Some(b'"') {
                return self.syntax_error();
            }
            self.at =
                push_string(self.text, self.at, &mut self.out).ok_or(JsonError::Syntax(self.at))?;
            let name = &self.out[start + 1..self.out.len() - 1];
            let matches = (self.select.match_member(name), self.drop.match_member(name));
            self.skip_space();
            if self.peek() != Some(b':') {
                return self.syntax_error();
            }
            self.at += 1;
            self.skip_space();
            matches
        };
        let is_dropped = outer.is_dropped || is_dropped;
        let output = ValueOutput {
            is_written: (outer.is_written || is_selected) && !is_dropped,
            is_dropped,
            is_own_line: !outer.is_written,
        };
        if !output.is_written || output.is_own_line {
            self.out.truncate(start);
        } else {
            if !is_array || self.unordered {
                self.members.push(Member { start, name_end: self.out.len() });
            }
            if !is_array {
                self.out.push(':');
            }
        }
        self.convert_value(output)
    }

    /// Converts a scalar, or begins a container.
    fn convert_value(&mut self, output: ValueOutput) -> Result<(), JsonError> {
        let Some(first) = self.peek() else { return self.syntax_error() };
        let is_array = first == b'[';
        if is_array || first == b'{' {
            if self.containers.len() >= MAX_DEPTH {
                return Err(JsonError::TooDeep);
            }
            if output.is_written {
                self.out.push(char::from(first));
            }
            self.at += 1;
            let length = if is_array { self.list_lengths.next().unwrap_or(0) } else { 0 };
            let members = self.members.len();
            self.containers.push(Container { is_array, count: 0, length, output, members });
            self.select.enter_container();
            self.drop.enter_container();
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
        .ok_or(JsonError::Syntax(self.at))?;
        if !output.is_written {
            self.out.truncate(start);
        }
        self.write_separator(output);
        Ok(())
    }

    fn write_separator(&mut self, output: ValueOutput) {
        if output.is_written {
            self.out.push(if output.is_own_line { '\n' } else { ',' });
        }
    }

    /// Ends the innermost container.
    fn end_container(&mut self) {
        self.at += 1;
        let Some(container) = self.containers.pop() else { return };
        self.select.leave_container();
        self.drop.leave_container();
        if container.output.is_written {
            self.sort_members(container.members, container.is_array);
            if self.out.ends_with(',') {
                self.out.pop();
            }
            self.out.push(if container.is_array { ']' } else { '}' });
        }
        self.members.truncate(container.members);
        self.write_separator(container.output);
    }

    /// Sorts members by name, or elements by text.
    fn sort_members(&mut self, from: usize, is_array: bool) {
        let members = &self.members[from..];
        let (Some(first), true) = (members.first(), members.len() > 1) else { return };
        let (start, end) = (first.start, self.out.len());
        let ends = members.iter().skip(1).map(|it| it.start).chain([end]);
        let ranges: Vec<(Member, usize)> = members.iter().copied().zip(ends).collect();
        let key = |(match_member, end): &(Member, usize)| {
            let to = if is_array { *end } else { match_member.name_end };
            &self.out.as_bytes()[match_member.start..to]
        };
        if ranges.is_sorted_by_key(key) {
            return;
        }
        let mut sorted = ranges.clone();
        // Stable, so that members with the same name keep their order.
        sorted.sort_by(|a, b| key(a).cmp(key(b)));
        self.sort_buffer.clear();
        for (match_member, end) in &sorted {
            self.sort_buffer.push_str(&self.out[match_member.start..*end]);
        }
        self.out.truncate(start);
        self.out.push_str(&self.sort_buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::path::parse;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let matches = canonicalize(text, &JsonOptions::default()).map(|it| it.text);
        assert_eq!(matches.as_deref(), Ok(expect), "{text}");
    }

    #[track_caller]
    fn check_paths(text: &str, select: &[&str], drop: &[&str], expect: &str) {
        let paths = |list: &[&str]| list.iter().map(|it| parse(it).unwrap()).collect();
        let options = JsonOptions { select: paths(select), drop: paths(drop), unordered: false };
        assert_eq!(canonicalize(text, &options).unwrap().text, expect, "{select:?} {drop:?}");
    }

    #[test]
    fn equal_values_have_one_form() {
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
    fn invalid_json_is_refused() {
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
            assert!(canonicalize(text, &JsonOptions::default()).is_err(), "{text}");
        }
        assert_eq!(
            canonicalize(&"[".repeat(200), &JsonOptions::default()).unwrap_err(),
            JsonError::TooDeep
        );
    }

    #[test]
    fn paths_select_and_drop_values() {
        let text =
            r#"{"items":[{"name":"x","price":1},{"name":"y","price":2}],"time":7,"a/b":{"0":5}}"#;
        check_paths(text, &["/items/1/price"], &[], "2\n");
        check_paths(text, &["$.items[*].name"], &[], "\"x\"\n\"y\"\n");
        check_paths(text, &["$..price"], &[], "1\n2\n");
        check_paths(text, &["/items/0"], &["$..name"], "{\"price\":1}\n");
        check_paths(text, &[], &["/items", "/a~1b"], "{\"time\":7}\n");
        check_paths(text, &["/a~1b/0"], &[], "5\n");
        check_paths(text, &["$['items'][1:]['name','price']"], &[], "\"y\"\n2\n");
        check_paths(text, &["/nothing"], &[], "");
        check_paths(text, &["$"], &["$.items"], "{\"a/b\":{\"0\":5},\"time\":7}\n");
    }

    #[test]
    fn unordered_lists_have_one_form() {
        let options = JsonOptions { unordered: true, ..JsonOptions::default() };
        let text = |it| canonicalize(it, &options).unwrap().text;
        assert_eq!(text("[3,{\"b\":1,\"a\":2},1]"), text("[{\"a\":2,\"b\":1},1,3]"));
    }
}
