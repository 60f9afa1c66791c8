//! Places in JSON: pointers (RFC 6901) and paths (RFC 9535, without filters).

/// A place, or many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Path {
    /// As it is written.
    pub(crate) text: String,
    segments: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Segment {
    /// At any depth.
    deep: bool,
    choices: Vec<Choice>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Choice {
    Name(String),
    Any,
    /// Below zero: from the end.
    Index(i64),
    /// From, to, and every how many.
    Slice(i64, i64, i64),
    /// A name or an index, as in pointers.
    Token(String),
}

/// What is wrong with a path, and after how many characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathFault {
    pub(crate) at: usize,
    pub(crate) what: String,
}

/// Segments of a path, at most: their places are bits.
const MOST_SEGMENTS: usize = 63;

impl Path {
    /// Whether it counts from the end of a list.
    pub(crate) fn asks_for_end(&self) -> bool {
        self.segments.iter().flat_map(|it| &it.choices).any(|it| match it {
            Choice::Index(at) => *at < 0,
            Choice::Slice(from, to, _) => *from < 0 || *to < 0,
            _ => false,
        })
    }
}

/// Which paths lead where, while JSON is read. Each path has a bit for every number of segments
/// that may lie behind.
#[derive(Debug)]
pub(crate) struct Walker<'p> {
    paths: &'p [Path],
    /// The bits of all paths, level by level.
    states: Vec<u64>,
    next: Vec<u64>,
    /// Which paths led somewhere.
    hit: Vec<bool>,
}

impl<'p> Walker<'p> {
    pub(crate) fn new(paths: &'p [Path]) -> Self {
        let count = paths.len();
        Self { paths, states: Vec::new(), next: vec![0; count], hit: vec![false; count] }
    }

    /// The paths that led nowhere.
    pub(crate) fn unmatched(&self) -> impl Iterator<Item = &'p str> {
        self.paths.iter().zip(&self.hit).filter(|it| !it.1).map(|it| it.0.text.as_str())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// At the whole value: whether a path ends here.
    pub(crate) fn root(&mut self) -> bool {
        self.states.clear();
        self.next.fill(1);
        let mut ends = false;
        for (path, hit) in self.paths.iter().zip(&mut self.hit) {
            *hit |= path.segments.is_empty();
            ends |= path.segments.is_empty();
        }
        ends
    }

    /// An element of a list of this many; they are counted only if a path asks for it.
    pub(crate) fn element(&mut self, index: u64, length: u64) -> bool {
        let place = |it: i64| if it < 0 { it.saturating_add_unsigned(length) } else { it };
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        self.child(|choice| match choice {
            Choice::Any => true,
            Choice::Index(it) => place(*it) == index,
            Choice::Slice(from, to, step) => {
                let from = place(*from).max(0);
                (from..place(*to)).contains(&index) && (index - from) % step == 0
            }
            Choice::Token(token) => *token == index.to_string(),
            Choice::Name(_) => false,
        })
    }

    /// `name` as it is written in JSON, without quotes.
    pub(crate) fn member(&mut self, name: &str) -> bool {
        self.child(|choice| match choice {
            Choice::Any => true,
            Choice::Name(it) | Choice::Token(it) => it == name,
            Choice::Index(_) | Choice::Slice(..) => false,
        })
    }

    fn child(&mut self, chosen: impl Fn(&Choice) -> bool) -> bool {
        let count = self.paths.len();
        if count == 0 {
            return false;
        }
        let outer = &self.states[self.states.len() - count..];
        let mut matched = false;
        let all = self.paths.iter().zip(outer).zip(self.next.iter_mut().zip(&mut self.hit));
        for ((path, &state), (next, hit)) in all {
            *next = 0;
            let mut bits = state;
            while bits != 0 {
                let at = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let Some(segment) = path.segments.get(at) else { continue };
                if segment.deep {
                    *next |= 1 << at;
                }
                if segment.choices.iter().any(&chosen) {
                    *next |= 1 << (at + 1);
                    *hit |= at + 1 == path.segments.len();
                    matched |= at + 1 == path.segments.len();
                }
            }
        }
        matched
    }

    /// Goes into the container that was just found.
    pub(crate) fn enter(&mut self) {
        self.states.extend_from_slice(&self.next);
    }

    pub(crate) fn leave(&mut self) {
        self.states.truncate(self.states.len().saturating_sub(self.paths.len()));
    }
}

/// A pointer, which begins with `/`, or a path, which begins with `$`.
pub(crate) fn parse(text: &str) -> Result<Path, PathFault> {
    let segments = match text.strip_prefix('/') {
        Some(rest) => pointer(rest)?,
        None => Parser { text, at: 0 }.path()?,
    };
    if segments.len() > MOST_SEGMENTS {
        let what = format!("{} steps, and the most is {MOST_SEGMENTS}", segments.len());
        return Err(PathFault { at: 0, what });
    }
    Ok(Path { text: text.to_owned(), segments })
}

fn pointer(rest: &str) -> Result<Vec<Segment>, PathFault> {
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
                        let what = "`~` stands for nothing: write `~0` for `~`, `~1` for `/`";
                        return Err(PathFault { at, what: what.to_owned() });
                    }
                },
                other => other,
            });
        }
        at += token.chars().count() + 1;
        segments.push(Segment { deep: false, choices: vec![Choice::Token(as_written(&name))] });
    }
    Ok(segments)
}

/// A name as it stands in JSON in one form.
fn as_written(name: &str) -> String {
    let mut quoted = String::from("\"");
    for character in name.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\0'..='\u{1f}' => quoted.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    let mut out = String::new();
    super::string::push_string(&quoted, 0, &mut out);
    out.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned()
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl Parser<'_> {
    fn fault<T>(&self, what: &str) -> Result<T, PathFault> {
        Err(PathFault { at: self.text[..self.at].chars().count(), what: what.to_owned() })
    }

    fn eat(&mut self, expect: &str) -> bool {
        let found = self.text[self.at..].starts_with(expect);
        if found {
            self.at += expect.len();
        }
        found
    }

    fn space(&mut self) {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
    }

    fn path(&mut self) -> Result<Vec<Segment>, PathFault> {
        if !self.eat("$") {
            return self.fault("a path begins with `$`, a pointer with `/`");
        }
        let mut segments = Vec::new();
        loop {
            if self.at == self.text.len() {
                return Ok(segments);
            }
            let deep = self.eat("..");
            let choices = if self.eat("[") {
                self.brackets()?
            } else if deep || self.eat(".") {
                if self.eat("*") { vec![Choice::Any] } else { vec![Choice::Name(self.name()?)] }
            } else {
                return self.fault("`.name` or `[…]` is expected here");
            };
            segments.push(Segment { deep, choices });
        }
    }

    fn name(&mut self) -> Result<String, PathFault> {
        let rest = &self.text[self.at..];
        let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_' && it != '-');
        let name = &rest[..end.unwrap_or(rest.len())];
        if name.is_empty() {
            return self.fault("a name is missing");
        }
        self.at += name.len();
        Ok(name.to_owned())
    }

    fn brackets(&mut self) -> Result<Vec<Choice>, PathFault> {
        let mut choices = Vec::new();
        loop {
            self.space();
            let rest = &self.text[self.at..];
            choices.push(match rest.chars().next() {
                Some('*') => {
                    self.at += 1;
                    Choice::Any
                }
                Some(quote @ ('"' | '\'')) => self.quoted(quote)?,
                Some('?') => {
                    return self
                        .fault("filters are not known: select the list, and use `keep_text`");
                }
                Some(it) if it.is_ascii_digit() || matches!(it, ':' | '-') => self.range()?,
                _ => return self.fault("a name in quotes, a number or `*` is expected here"),
            });
            self.space();
            if self.eat("]") {
                return Ok(choices);
            }
            if !self.eat(",") {
                return self.fault("`]` is missing");
            }
        }
    }

    fn quoted(&mut self, quote: char) -> Result<Choice, PathFault> {
        self.at += 1;
        let mut name = String::new();
        let mut characters = self.text[self.at..].char_indices();
        while let Some((at, character)) = characters.next() {
            if character == quote {
                self.at += at + 1;
                return Ok(Choice::Name(as_written(&name)));
            }
            let escaped = character == '\\';
            match if escaped { characters.next().map(|it| it.1) } else { Some(character) } {
                Some(character) => name.push(character),
                None => break,
            }
        }
        self.fault("the closing quote is missing")
    }

    fn number(&mut self) -> Result<Option<i64>, PathFault> {
        self.space();
        let rest = &self.text[self.at..];
        let sign = usize::from(rest.starts_with('-'));
        let digits = sign + rest[sign..].bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Ok(None);
        }
        if digits == sign {
            return self.fault("a number is missing after `-`");
        }
        let Ok(number) = rest[..digits].parse() else { return self.fault("too large a number") };
        self.at += digits;
        self.space();
        Ok(Some(number))
    }

    fn range(&mut self) -> Result<Choice, PathFault> {
        let first = self.number()?;
        if !self.eat(":") {
            return first
                .map_or_else(|| self.fault("a number is missing"), |it| Ok(Choice::Index(it)));
        }
        let to = self.number()?.unwrap_or(i64::MAX);
        let step = if self.eat(":") { self.number()?.unwrap_or(1) } else { 1 };
        if step <= 0 {
            return self.fault("lists are read from front to back: the step must be above 0");
        }
        Ok(Choice::Slice(first.unwrap_or(0), to, step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refuse(text: &str, at: usize, what: &str) {
        let fault = parse(text).unwrap_err();
        assert_eq!((fault.at, fault.what.as_str()), (at, what), "{text}");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        refuse("$.a[?@.b]", 4, "filters are not known: select the list, and use `keep_text`");
        refuse("$.a[-]", 4, "a number is missing after `-`");
        refuse("$.a[::-1]", 8, "lists are read from front to back: the step must be above 0");
        refuse("$.a.", 4, "a name is missing");
        refuse("$a", 1, "`.name` or `[…]` is expected here");
        refuse("$['a", 3, "the closing quote is missing");
        refuse("/a/~2", 3, "`~` stands for nothing: write `~0` for `~`, `~1` for `/`");
        refuse("a", 0, "a path begins with `$`, a pointer with `/`");
    }
}
