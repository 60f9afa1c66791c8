//! Selectors as they are written.

use super::compound::{Compound, How, Nth, Test};

/// How two parts of a selector hang together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combinator {
    Descendant,
    Child,
    Next,
    Later,
}

/// One alternative of a selector: parts from the outermost in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chain {
    pub(crate) parts: Vec<(Option<Combinator>, Compound)>,
}

/// A selector: alternatives separated by commas.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Selector {
    /// As it is written.
    pub(crate) text: String,
    pub(crate) chains: Vec<Chain>,
}

/// What is wrong with a selector, and after how many characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SelectorFault {
    pub(crate) at: usize,
    pub(crate) what: String,
}

/// `:is()` and `:not()` may hold each other this deep.
const DEEPEST: usize = 8;

pub(crate) fn parse(text: &str) -> Result<Selector, SelectorFault> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let mut chains = Vec::new();
    loop {
        chains.push(parser.chain()?);
        match parser.peek() {
            None => return Ok(Selector { text: text.to_owned(), chains }),
            Some(',') => parser.at += 1,
            Some(other) => return Err(parser.fault(format!("`{other}` is not expected here"))),
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn fault(&self, what: impl Into<String>) -> SelectorFault {
        SelectorFault { at: self.text[..self.at].chars().count(), what: what.into() }
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

    fn expect(&mut self, expect: char) -> Result<(), SelectorFault> {
        if self.eat(expect) { Ok(()) } else { Err(self.fault(format!("`{expect}` is missing"))) }
    }

    /// Whether there was white space.
    fn space(&mut self) -> bool {
        let rest = self.text[self.at..].trim_start();
        let before = std::mem::replace(&mut self.at, self.text.len() - rest.len());
        self.at > before
    }

    fn chain(&mut self) -> Result<Chain, SelectorFault> {
        self.space();
        let mut parts = vec![(None, self.compound()?)];
        loop {
            let space = self.space();
            let combinator = match self.peek() {
                Some('>') => Combinator::Child,
                Some('+') => Combinator::Next,
                Some('~') => Combinator::Later,
                None | Some(',' | ')') => return Ok(Chain { parts }),
                Some(_) if space => Combinator::Descendant,
                Some(other) => return Err(self.fault(format!("`{other}` is not expected here"))),
            };
            if combinator != Combinator::Descendant {
                self.at += 1;
                self.space();
            }
            parts.push((Some(combinator), self.compound()?));
        }
    }

    fn compound(&mut self) -> Result<Compound, SelectorFault> {
        let mut tests = Vec::new();
        let start = self.at;
        if !self.eat('*') && self.peek().is_some_and(starts_name) {
            tests.push(Test::Name(self.name()?.to_lowercase()));
        }
        loop {
            match self.peek() {
                Some('#') => {
                    self.at += 1;
                    tests.push(Test::Id(self.name()?));
                }
                Some('.') => {
                    self.at += 1;
                    tests.push(Test::Class(self.name()?));
                }
                Some('[') => tests.push(self.attribute()?),
                Some(':') => tests.extend(self.pseudo()?),
                _ => break,
            }
        }
        if self.at == start {
            return Err(match self.peek() {
                None => {
                    self.fault("a name, `.class`, `#id` or `[attribute]` is missing at the end")
                }
                Some(other) => self.fault(format!("`{other}` is not expected here")),
            });
        }
        Ok(Compound { tests })
    }

    fn name(&mut self) -> Result<String, SelectorFault> {
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
        if name.is_empty() { Err(self.fault("a name is missing")) } else { Ok(name) }
    }

    /// What follows a backslash: a hexadecimal number or any character.
    fn escaped(&mut self) -> Result<char, SelectorFault> {
        let rest = &self.text[self.at..];
        let digits = rest.bytes().take(6).take_while(u8::is_ascii_hexdigit).count();
        if digits == 0 {
            let character = self.peek().ok_or_else(|| self.fault("a character is missing"))?;
            self.at += character.len_utf8();
            return Ok(character);
        }
        let code = u32::from_str_radix(&rest[..digits], 16).unwrap_or(0);
        self.at += digits;
        self.eat(' ');
        Ok(char::from_u32(code).filter(|it| *it != '\0').unwrap_or('\u{fffd}'))
    }

    fn attribute(&mut self) -> Result<Test, SelectorFault> {
        self.at += 1;
        self.space();
        let name = self.name()?;
        self.space();
        let how = match self.peek() {
            Some(']') => How::Present,
            Some('=') => How::Equal,
            Some('~') => How::Word,
            Some('|') => How::Dash,
            Some('^') => How::Prefix,
            Some('$') => How::Suffix,
            Some('*') => How::Contains,
            _ => return Err(self.fault("`]` or a comparison such as `=` is missing")),
        };
        let (mut value, mut any_case) = (String::new(), false);
        if how != How::Present {
            if how != How::Equal {
                self.at += 1;
            }
            self.expect('=')?;
            self.space();
            value = self.value()?;
            self.space();
            any_case = self.eat('i') || self.eat('I');
            if !any_case {
                let _ = self.eat('s') || self.eat('S');
            }
            self.space();
        }
        self.expect(']')?;
        Ok(Test::Attribute { name, how, value, any_case })
    }

    fn value(&mut self) -> Result<String, SelectorFault> {
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
        Err(self.fault("the closing quote is missing"))
    }

    /// None for those that mean any element.
    fn pseudo(&mut self) -> Result<Vec<Test>, SelectorFault> {
        let start = self.at;
        self.at += 1;
        if self.peek() == Some(':') {
            return Err(self.fault("parts of elements such as `::before` have no text of a page"));
        }
        let name = self.name()?.to_lowercase();
        let first = Nth { a: 0, b: 1 };
        let test = match name.as_str() {
            "first-child" => Test::NthChild(first),
            "first-of-type" => Test::NthOfType(first),
            "nth-child" => Test::NthChild(self.nth()?),
            "nth-of-type" => Test::NthOfType(self.nth()?),
            "last-child" => Test::NthLastChild(first),
            "last-of-type" => Test::NthLastOfType(first),
            "nth-last-child" => Test::NthLastChild(self.nth()?),
            "nth-last-of-type" => Test::NthLastOfType(self.nth()?),
            "only-child" => return Ok(vec![Test::NthChild(first), Test::NthLastChild(first)]),
            "only-of-type" => {
                return Ok(vec![Test::NthOfType(first), Test::NthLastOfType(first)]);
            }
            "root" => Test::Root,
            "is" | "where" | "any" => Test::Is(self.alternatives()?),
            "not" => Test::Not(self.alternatives()?),
            "scope" => return Ok(Vec::new()),
            "has" | "empty" | "contains" => {
                self.at = start;
                return Err(self.fault(format!(
                    "`:{name}` asks for what is in an element, which is not known where it begins"
                )));
            }
            _ => {
                self.at = start;
                return Err(self.fault(format!("`:{name}` is not known")));
            }
        };
        Ok(vec![test])
    }

    fn alternatives(&mut self) -> Result<Vec<Compound>, SelectorFault> {
        self.expect('(')?;
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fault("too many brackets in each other"));
        }
        let mut list = Vec::new();
        loop {
            self.space();
            list.push(self.compound()?);
            self.space();
            if self.eat(')') {
                self.depth -= 1;
                return Ok(list);
            }
            if !self.eat(',') {
                return Err(match self.peek() {
                    None => self.fault("`)` is missing"),
                    Some(_) => self.fault("within brackets, only what is asked of one element"),
                });
            }
        }
    }

    fn nth(&mut self) -> Result<Nth, SelectorFault> {
        self.expect('(')?;
        let Some(end) = self.text[self.at..].find(')') else {
            return Err(self.fault("`)` is missing"));
        };
        let written: String =
            self.text[self.at..self.at + end].to_lowercase().split_whitespace().collect();
        let nth = match written.as_str() {
            "odd" => Some(Nth { a: 2, b: 1 }),
            "even" => Some(Nth { a: 2, b: 0 }),
            _ => match written.split_once('n') {
                None => written.parse().ok().map(|b| Nth { a: 0, b }),
                Some((a, b)) => {
                    let a = match a {
                        "" | "+" => Some(1),
                        "-" => Some(-1),
                        _ => a.parse().ok(),
                    };
                    let b = if b.is_empty() { Some(0) } else { b.parse().ok() };
                    a.zip(b).map(|(a, b)| Nth { a, b })
                }
            },
        };
        let nth =
            nth.ok_or_else(|| self.fault(format!("`{written}` is no `2n+1`, `odd` or `3`")))?;
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
    fn refuse(text: &str, at: usize, what: &str) {
        let fault = parse(text).unwrap_err();
        assert_eq!((fault.at, fault.what.as_str()), (at, what), "{text}");
    }

    #[test]
    fn what_is_understood() {
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
    fn what_is_wrong_is_said_with_its_place() {
        refuse("", 0, "a name, `.class`, `#id` or `[attribute]` is missing at the end");
        refuse("div >", 5, "a name, `.class`, `#id` or `[attribute]` is missing at the end");
        refuse("div..a", 4, "a name is missing");
        refuse("a[href", 6, "`]` or a comparison such as `=` is missing");
        refuse("a[href='x]", 10, "the closing quote is missing");
        refuse("p:foo", 1, "`:foo` is not known");
        let later = "`:has` asks for what is in an element, which is not known where it begins";
        refuse("p:has(a)", 1, later);
        refuse("a!b", 1, "`!` is not expected here");
        refuse("p:nth-child(x)", 12, "`x` is no `2n+1`, `odd` or `3`");
        refuse(":is(a b)", 6, "within brackets, only what is asked of one element");
        refuse(&":is(".repeat(20), 36, "too many brackets in each other");
    }
}
