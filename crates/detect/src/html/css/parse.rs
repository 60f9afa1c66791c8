//! Parses selectors.

use super::compound::{AttributeOperator, CompoundSelector, NthPattern, SimpleSelector};

/// The relation between two compounds of a selector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combinator {
    Descendant,
    Child,
    NextSibling,
    SubsequentSibling,
}

/// Compounds from the outermost inward, each with the combinator before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ComplexSelector {
    pub(crate) parts: Vec<(Option<Combinator>, CompoundSelector)>,
}

/// Alternative selectors, separated by commas.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SelectorList {
    /// The list as written.
    pub(crate) source: String,
    pub(crate) alternatives: Vec<ComplexSelector>,
}

/// A syntax error in a selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SelectorError {
    /// Number of characters before the error.
    pub(crate) position: usize,
    pub(crate) message: String,
}

/// Maximum depth of nested `:is()` and `:not()`.
const MAX_NESTING: usize = 8;

pub(crate) fn parse(text: &str) -> Result<SelectorList, SelectorError> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let mut alternatives = Vec::new();
    loop {
        alternatives.push(parser.complex_selector()?);
        match parser.peek() {
            None => return Ok(SelectorList { source: text.to_owned(), alternatives }),
            Some(',') => parser.at += 1,
            Some(other) => return Err(parser.error(format!("`{other}` is not expected here"))),
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn error(&self, message: impl Into<String>) -> SelectorError {
        SelectorError { position: self.text[..self.at].chars().count(), message: message.into() }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn eat(&mut self, expect: char) -> bool {
        let found = self.peek() == Some(expect);
        if found {
            self.at += expect.len_utf8();
        }
        found
    }

    fn expect(&mut self, expect: char) -> Result<(), SelectorError> {
        if self.eat(expect) { Ok(()) } else { Err(self.error(format!("`{expect}` is missing"))) }
    }

    /// Skips white space, and returns true if there was any.
    fn skip_space(&mut self) -> bool {
        let rest = self.text[self.at..].trim_start();
        let before = std::mem::replace(&mut self.at, self.text.len() - rest.len());
        self.at > before
    }

    fn complex_selector(&mut self) -> Result<ComplexSelector, SelectorError> {
        self.skip_space();
        let mut parts = vec![(None, self.compound()?)];
        loop {
            let has_space = self.skip_space();
            let combinator = match self.peek() {
                Some('>') => Combinator::Child,
                Some('+') => Combinator::NextSibling,
                Some('~') => Combinator::SubsequentSibling,
                None | Some(',' | ')') => return Ok(ComplexSelector { parts }),
                Some(_) if has_space => Combinator::Descendant,
                Some(other) => return Err(self.error(format!("`{other}` is not expected here"))),
            };
            if combinator != Combinator::Descendant {
                self.at += 1;
                self.skip_space();
            }
            parts.push((Some(combinator), self.compound()?));
        }
    }

    fn compound(&mut self) -> Result<CompoundSelector, SelectorError> {
        let mut parts = Vec::new();
        let start = self.at;
        if !self.eat('*') && self.peek().is_some_and(starts_name) {
            parts.push(SimpleSelector::Name(self.name()?.to_lowercase()));
        }
        loop {
            match self.peek() {
                Some('#') => {
                    self.at += 1;
                    parts.push(SimpleSelector::Id(self.name()?));
                }
                Some('.') => {
                    self.at += 1;
                    parts.push(SimpleSelector::Class(self.name()?));
                }
                Some('[') => parts.push(self.attribute()?),
                Some(':') => parts.extend(self.pseudo_class()?),
                _ => break,
            }
        }
        if self.at == start {
            return Err(match self.peek() {
                None => {
                    self.error("a name, `.class`, `#id` or `[attribute]` is missing at the end")
                }
                Some(other) => self.error(format!("`{other}` is not expected here")),
            });
        }
        Ok(CompoundSelector { parts })
    }

    fn name(&mut self) -> Result<String, SelectorError> {
        let mut name = String::new();
        while let Some(character) = self.peek() {
            if character == '\\' {
                self.at += 1;
                name.push(self.escaped()?);
            } else if is_name(character) {
                name.push(character);
                self.at += character.len_utf8();
            } else {
                break;
            }
        }
        if name.is_empty() { Err(self.error("a name is missing")) } else { Ok(name) }
    }

    /// Parses what follows a backslash: a hexadecimal number or any character.
    fn escaped(&mut self) -> Result<char, SelectorError> {
        let rest = &self.text[self.at..];
        let digits = rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            let character = self.peek().ok_or_else(|| self.error("a character is missing"))?;
            self.at += character.len_utf8();
            return Ok(character);
        }
        let code = u32::from_str_radix(&rest[..digits], 16).unwrap_or(0);
        self.at += digits;
        self.eat(' ');
        Ok(char::from_u32(code).filter(|it| *it != '\0').unwrap_or('\u{fffd}'))
    }

    fn attribute(&mut self) -> Result<SimpleSelector, SelectorError> {
        self.at += 1;
        self.skip_space();
        let name = self.name()?;
        self.skip_space();
        let operator = match self.peek() {
            Some(']') => AttributeOperator::Present,
            Some('=') => AttributeOperator::Equal,
            Some('~') => AttributeOperator::Word,
            Some('|') => AttributeOperator::DashMatch,
            Some('^') => AttributeOperator::Prefix,
            Some('$') => AttributeOperator::Suffix,
            Some('*') => AttributeOperator::Contains,
            _ => return Err(self.error("`]` or a comparison such as `=` is missing")),
        };
        let (mut value, mut ignores_case) = (String::new(), false);
        if operator != AttributeOperator::Present {
            if operator != AttributeOperator::Equal {
                self.at += 1;
            }
            self.expect('=')?;
            self.skip_space();
            value = self.value()?;
            self.skip_space();
            ignores_case = self.eat('i') || self.eat('I');
            if !ignores_case {
                let _ = self.eat('s') || self.eat('S');
            }
            self.skip_space();
        }
        self.expect(']')?;
        Ok(SimpleSelector::Attribute { name, operator, value, ignores_case })
    }

    fn value(&mut self) -> Result<String, SelectorError> {
        let Some(quote @ ('"' | '\'')) = self.peek() else { return self.name() };
        self.at += 1;
        let mut value = String::new();
        while let Some(character) = self.peek() {
            self.at += character.len_utf8();
            match character {
                _ if character == quote => return Ok(value),
                '\\' => value.push(self.escaped()?),
                _ => value.push(character),
            }
        }
        Err(self.error("the closing quote is missing"))
    }

    /// Parses a pseudo-class. Returns no parts for one that matches any element.
    fn pseudo_class(&mut self) -> Result<Vec<SimpleSelector>, SelectorError> {
        let start = self.at;
        self.at += 1;
        if self.peek() == Some(':') {
            return Err(self.error("pseudo-elements such as `::before` have no text of the page"));
        }
        let name = self.name()?.to_lowercase();
        let first = NthPattern { step: 0, offset: 1 };
        let test = match name.as_str() {
            "first-child" => SimpleSelector::NthChild(first),
            "first-of-type" => SimpleSelector::NthOfType(first),
            "nth-child" => SimpleSelector::NthChild(self.nth()?),
            "nth-of-type" => SimpleSelector::NthOfType(self.nth()?),
            "last-child" => SimpleSelector::NthLastChild(first),
            "last-of-type" => SimpleSelector::NthLastOfType(first),
            "nth-last-child" => SimpleSelector::NthLastChild(self.nth()?),
            "nth-last-of-type" => SimpleSelector::NthLastOfType(self.nth()?),
            "only-child" => {
                return Ok(vec![
                    SimpleSelector::NthChild(first),
                    SimpleSelector::NthLastChild(first),
                ]);
            }
            "only-of-type" => {
                return Ok(vec![
                    SimpleSelector::NthOfType(first),
                    SimpleSelector::NthLastOfType(first),
                ]);
            }
            "root" => SimpleSelector::Root,
            "is" | "where" | "any" => SimpleSelector::Is(self.alternatives()?),
            "not" => SimpleSelector::Not(self.alternatives()?),
            "scope" => return Ok(Vec::new()),
            "has" | "empty" | "contains" => {
                self.at = start;
                return Err(self.error(format!(
                    "`:{name}` depends on the content of an element, which is not known when the element begins"
                )));
            }
            _ => {
                self.at = start;
                return Err(self.error(format!("unknown pseudo-class `:{name}`")));
            }
        };
        Ok(vec![test])
    }

    fn alternatives(&mut self) -> Result<Vec<CompoundSelector>, SelectorError> {
        self.expect('(')?;
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(self.error("the brackets are nested too deeply"));
        }
        let mut list = Vec::new();
        loop {
            self.skip_space();
            list.push(self.compound()?);
            self.skip_space();
            if self.eat(')') {
                self.depth -= 1;
                return Ok(list);
            }
            if !self.eat(',') {
                return Err(match self.peek() {
                    None => self.error("`)` is missing"),
                    Some(_) => self.error("a selector in brackets cannot have combinators"),
                });
            }
        }
    }

    fn nth(&mut self) -> Result<NthPattern, SelectorError> {
        self.expect('(')?;
        let Some(end) = self.text[self.at..].find(')') else {
            return Err(self.error("`)` is missing"));
        };
        let written: String =
            self.text[self.at..self.at + end].to_lowercase().split_whitespace().collect();
        let nth = match written.as_str() {
            "odd" => Some(NthPattern { step: 2, offset: 1 }),
            "even" => Some(NthPattern { step: 2, offset: 0 }),
            _ => match written.split_once('n') {
                None => written.parse().ok().map(|offset| NthPattern { step: 0, offset }),
                Some((step, offset)) => {
                    let step = match step {
                        "" | "+" => Some(1),
                        "-" => Some(-1),
                        _ => step.parse().ok(),
                    };
                    let offset = if offset.is_empty() { Some(0) } else { offset.parse().ok() };
                    step.zip(offset).map(|(step, offset)| NthPattern { step, offset })
                }
            },
        };
        let nth = nth.ok_or_else(|| {
            self.error(format!("`{written}` is not of the form `2n+1`, `odd` or `3`"))
        })?;
        self.at += end + 1;
        Ok(nth)
    }
}

fn starts_name(character: char) -> bool {
    character.is_alphabetic() || character == '_' || character == '\\' || !character.is_ascii()
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '-' | '_') || !character.is_ascii()
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
    fn supported_selectors_are_parsed() {
        for text in [
            "#main",
            "div.a.b > p",
            "body > div:nth-child(3) > table > tbody > tr:nth-child(2n + 1) td",
            "a[href^='https://'], h2 + p ~ ul",
            "[data-x=\"1\" i]",
            "*",
            ".md\\:flex",
            ":is(h1, h2):not(.a)",
            "p:first-of-type",
        ] {
            parse(text).unwrap();
        }
    }

    #[test]
    fn an_error_has_its_position() {
        check_error("", 0, "a name, `.class`, `#id` or `[attribute]` is missing at the end");
        check_error("div >", 5, "a name, `.class`, `#id` or `[attribute]` is missing at the end");
        check_error("div..a", 4, "a name is missing");
        check_error("a[href", 6, "`]` or a comparison such as `=` is missing");
        check_error("a[href='x]", 10, "the closing quote is missing");
        check_error("p:foo", 1, "unknown pseudo-class `:foo`");
        let message = "`:has` depends on the content of an element, which is not known when the element begins";
        check_error("p:has(a)", 1, message);
        check_error("a!b", 1, "`!` is not expected here");
        check_error("p:nth-child(x)", 12, "`x` is not of the form `2n+1`, `odd` or `3`");
        check_error(":is(a b)", 6, "a selector in brackets cannot have combinators");
        check_error(&":is(".repeat(20), 36, "the brackets are nested too deeply");
    }
}
