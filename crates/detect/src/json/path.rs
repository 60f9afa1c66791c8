//! Paths in JSON: pointers (RFC 6901) and JSON paths (RFC 9535, without filters).

/// A path, which may match many values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonPath {
    /// The path as written.
    pub(crate) text: String,
    segments: Vec<PathSegment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct PathSegment {
    /// The segment matches at any depth.
    is_descendant: bool,
    selectors: Vec<PathSelector>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathSelector {
    Name(String),
    Any,
    /// Negative: from the end.
    Index(i64),
    /// Start, end and step.
    Slice(i64, i64, i64),
    /// A name or an index, as in pointers.
    Token(String),
}

/// A syntax error in a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathError {
    /// Number of characters before the error.
    pub(crate) position: usize,
    pub(crate) message: String,
}

/// Maximum number of segments: each one is a bit.
const MAX_SEGMENTS: usize = 63;

impl JsonPath {
    /// True if the path depends on the length of a list.
    pub(crate) fn counts_from_end(&self) -> bool {
        self.segments.iter().flat_map(|it| &it.selectors).any(|it| match it {
            PathSelector::Index(at) => *at < 0,
            PathSelector::Slice(from, to, _) => *from < 0 || *to < 0,
            _ => false,
        })
    }
}

/// Matches paths while JSON is read. For each path and level, a bit for each number of segments
/// that match so far.
#[derive(Debug)]
pub(crate) struct PathMatcher<'p> {
    paths: &'p [JsonPath],
    /// The bits of all paths, level by level.
    states: Vec<u64>,
    next: Vec<u64>,
    /// For each path, true if it matched a value.
    has_matched: Vec<bool>,
}

impl<'p> PathMatcher<'p> {
    pub(crate) fn new(paths: &'p [JsonPath]) -> Self {
        let count = paths.len();
        Self { paths, states: Vec::new(), next: vec![0; count], has_matched: vec![false; count] }
    }

    /// Returns the paths that matched nothing.
    pub(crate) fn unmatched(&self) -> impl Iterator<Item = &'p str> {
        self.paths.iter().zip(&self.has_matched).filter(|it| !it.1).map(|it| it.0.text.as_str())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Begins a value at the top level. Returns true if a path matches it.
    pub(crate) fn match_root(&mut self) -> bool {
        self.states.clear();
        self.next.fill(1);
        let mut ends = false;
        for (path, has_matched) in self.paths.iter().zip(&mut self.has_matched) {
            *has_matched |= path.segments.is_empty();
            ends |= path.segments.is_empty();
        }
        ends
    }

    /// Begins an element of a list of this length. Lengths are known only if a path depends on
    /// them.
    pub(crate) fn match_element(&mut self, index: u64, length: u64) -> bool {
        let from_start = |it: i64| if it < 0 { it.saturating_add_unsigned(length) } else { it };
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        self.match_child(|choice| match choice {
            PathSelector::Any => true,
            PathSelector::Index(it) => from_start(*it) == index,
            PathSelector::Slice(from, to, step) => {
                let from = from_start(*from).max(0);
                (from..from_start(*to)).contains(&index) && (index - from) % step == 0
            }
            PathSelector::Token(token) => *token == index.to_string(),
            PathSelector::Name(_) => false,
        })
    }

    /// Begins a member. `name` is in its canonical form, without quotes.
    pub(crate) fn match_member(&mut self, name: &str) -> bool {
        self.match_child(|choice| match choice {
            PathSelector::Any => true,
            PathSelector::Name(it) | PathSelector::Token(it) => it == name,
            PathSelector::Index(_) | PathSelector::Slice(..) => false,
        })
    }

    fn match_child(&mut self, is_selected: impl Fn(&PathSelector) -> bool) -> bool {
        let count = self.paths.len();
        if count == 0 {
            return false;
        }
        let parent_states = &self.states[self.states.len() - count..];
        let mut matched = false;
        let states = self
            .paths
            .iter()
            .zip(parent_states)
            .zip(self.next.iter_mut().zip(&mut self.has_matched));
        for ((path, &state), (next, has_matched)) in states {
            *next = 0;
            let mut bits = state;
            while bits != 0 {
                let at = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let Some(segment) = path.segments.get(at) else { continue };
                if segment.is_descendant {
                    *next |= 1 << at;
                }
                if segment.selectors.iter().any(&is_selected) {
                    *next |= 1 << (at + 1);
                    *has_matched |= at + 1 == path.segments.len();
                    matched |= at + 1 == path.segments.len();
                }
            }
        }
        matched
    }

    /// Enters the container that the last element or member is.
    pub(crate) fn enter_container(&mut self) {
        self.states.extend_from_slice(&self.next);
    }

    pub(crate) fn leave_container(&mut self) {
        self.states.truncate(self.states.len().saturating_sub(self.paths.len()));
    }
}

/// Parses a pointer, which begins with `/`, or a JSON path, which begins with `$`.
pub(crate) fn parse(text: &str) -> Result<JsonPath, PathError> {
    let segments = match text.strip_prefix('/') {
        Some(rest) => parse_pointer(rest)?,
        None => Parser { text, at: 0 }.path()?,
    };
    if segments.len() > MAX_SEGMENTS {
        let message =
            format!("{} segments are more than the maximum of {MAX_SEGMENTS}", segments.len());
        return Err(PathError { position: 0, message });
    }
    Ok(JsonPath { text: text.to_owned(), segments })
}

fn parse_pointer(rest: &str) -> Result<Vec<PathSegment>, PathError> {
    let mut at = 1;
    let mut segments = Vec::new();
    for token in rest.split('/') {
        let mut name = String::new();
        let mut characters = token.chars();
        while let Some(character) = characters.next() {
            name.push(match character {
                '~' => match characters.next() {
                    Some('0') => '~',
                    Some('1') => '/',
                    _ => {
                        let message = "invalid escape `~`: write `~0` for `~`, `~1` for `/`";
                        return Err(PathError { position: at, message: message.to_owned() });
                    }
                },
                other => other,
            });
        }
        at += token.chars().count() + 1;
        segments.push(PathSegment {
            is_descendant: false,
            selectors: vec![PathSelector::Token(canonical_name(&name))],
        });
    }
    Ok(segments)
}

/// Returns a name in its canonical form, without quotes.
fn canonical_name(name: &str) -> String {
    let mut quoted_name = String::from("\"");
    for character in name.chars() {
        match character {
            '"' | '\\' => quoted_name.extend(['\\', character]),
            '\0'..='\u{1f}' => quoted_name.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => quoted_name.push(character),
        }
    }
    quoted_name.push('"');
    let mut out = String::new();
    super::string::push_string(&quoted_name, 0, &mut out);
    out.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned()
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn error<T>(&self, message: &str) -> Result<T, PathError> {
        Err(PathError {
            position: self.text[..self.at].chars().count(),
            message: message.to_owned(),
        })
    }

    fn eat(&mut self, expect: &str) -> bool {
        let found = self.text[self.at..].starts_with(expect);
        if found {
            self.at += expect.len();
        }
        found
    }

    fn skip_space(&mut self) {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
    }

    fn path(&mut self) -> Result<Vec<PathSegment>, PathError> {
        if !self.eat("$") {
            return self.error("a path begins with `$`, a pointer with `/`");
        }
        let mut segments = Vec::new();
        loop {
            if self.at == self.text.len() {
                return Ok(segments);
            }
            let is_descendant = self.eat("..");
            let selectors = if self.eat("[") {
                self.bracketed_selectors()?
            } else if is_descendant || self.eat(".") {
                if self.eat("*") {
                    vec![PathSelector::Any]
                } else {
                    vec![PathSelector::Name(self.name()?)]
                }
            } else {
                return self.error("`.name` or `[…]` is expected here");
            };
            segments.push(PathSegment { is_descendant, selectors });
        }
    }

    fn name(&mut self) -> Result<String, PathError> {
        let rest = &self.text[self.at..];
        let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_' && it != '-');
        let name = &rest[..end.unwrap_or(rest.len())];
        if name.is_empty() {
            return self.error("a name is missing");
        }
        self.at += name.len();
        Ok(name.to_owned())
    }

    fn bracketed_selectors(&mut self) -> Result<Vec<PathSelector>, PathError> {
        let mut selectors = Vec::new();
        loop {
            self.skip_space();
            let rest = &self.text[self.at..];
            selectors.push(match rest.chars().next() {
                Some('*') => {
                    self.at += 1;
                    PathSelector::Any
                }
                Some(quote @ ('"' | '\'')) => self.quoted_name(quote)?,
                Some('?') => {
                    return self
                        .error("filters are not supported: select the list, and use `keep_text`");
                }
                Some(it) if it.is_ascii_digit() || matches!(it, ':' | '-') => {
                    self.index_or_slice()?
                }
                _ => return self.error("a name in quotes, a number or `*` is expected here"),
            });
            self.skip_space();
            if self.eat("]") {
                return Ok(selectors);
            }
            if !self.eat(",") {
                return self.error("`]` is missing");
            }
        }
    }

    fn quoted_name(&mut self, quote: char) -> Result<PathSelector, PathError> {
        self.at += 1;
        let mut name = String::new();
        let mut characters = self.text[self.at..].char_indices();
        while let Some((at, character)) = characters.next() {
            if character == quote {
                self.at += at + 1;
                return Ok(PathSelector::Name(canonical_name(&name)));
            }
            let escaped = character == '\\';
            match if escaped { characters.next().map(|it| it.1) } else { Some(character) } {
                Some(character) => name.push(character),
                None => break,
            }
        }
        self.error("the closing quote is missing")
    }

    fn number(&mut self) -> Result<Option<i64>, PathError> {
        self.skip_space();
        let rest = &self.text[self.at..];
        let sign = usize::from(rest.starts_with('-'));
        let digits = sign + rest[sign..].bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Ok(None);
        }
        if digits == sign {
            return self.error("a number is missing after `-`");
        }
        let Ok(number) = rest[..digits].parse() else {
            return self.error("the number is too large");
        };
        self.at += digits;
        self.skip_space();
        Ok(Some(number))
    }

    fn index_or_slice(&mut self) -> Result<PathSelector, PathError> {
        let first = self.number()?;
        if !self.eat(":") {
            return first.map_or_else(
                || self.error("a number is missing"),
                |it| Ok(PathSelector::Index(it)),
            );
        }
        let to = self.number()?.unwrap_or(i64::MAX);
        let step = if self.eat(":") { self.number()?.unwrap_or(1) } else { 1 };
        if step <= 0 {
            return self.error("the step must be above 0: lists are read from front to back");
        }
        Ok(PathSelector::Slice(first.unwrap_or(0), to, step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_error(text: &str, at: usize, message: &str) {
        let error = parse(text).unwrap_err();
        assert_eq!((error.position, error.message.as_str()), (at, message), "{text}");
    }

    #[test]
    fn an_error_has_its_position() {
        check_error(
            "$.a[?@.b]",
            4,
            "filters are not supported: select the list, and use `keep_text`",
        );
        check_error("$.a[-]", 4, "a number is missing after `-`");
        check_error("$.a[::-1]", 8, "the step must be above 0: lists are read from front to back");
        check_error("$.a.", 4, "a name is missing");
        check_error("$a", 1, "`.name` or `[…]` is expected here");
        check_error("$['a", 3, "the closing quote is missing");
        check_error("/a/~2", 3, "invalid escape `~`: write `~0` for `~`, `~1` for `/`");
        check_error("a", 0, "a path begins with `$`, a pointer with `/`");
    }
}
