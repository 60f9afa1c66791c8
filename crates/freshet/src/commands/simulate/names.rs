//! Names of sources and hosts on the command line and in scenarios.

use freshet_sim::Origin;
use freshet_tables::nearest;

/// Names of all sources or all hosts.
pub(crate) struct Names<'a> {
    noun: &'static str,
    /// `None` if they are numbered from 1.
    names: Option<Vec<&'a str>>,
    count: usize,
}

/// Error for a name that does not exist.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnknownName {
    pub(crate) fact: String,
    pub(crate) hint: String,
}

impl<'a> Names<'a> {
    pub(crate) fn for_sources(origin: &'a Origin) -> Self {
        Self { noun: "source", names: origin.source_names(), count: origin.sources() }
    }

    pub(crate) fn for_hosts(origin: &'a Origin) -> Self {
        Self { noun: "host", names: origin.host_names(), count: origin.hosts() }
    }

    /// Returns the name of a number, counted from 0.
    pub(crate) fn name(&self, at: u32) -> String {
        let name = self.names.as_ref().and_then(|names| names.get(at as usize));
        name.map_or_else(|| (at + 1).to_string(), |name| (*name).to_owned())
    }

    /// Returns the number of a name, counted from 0.
    pub(crate) fn find(&self, name: &str) -> Result<u32, UnknownName> {
        let Self { noun, count, .. } = self;
        let fact = format!("there is no {noun} `{name}`");
        match &self.names {
            None => match name.parse::<u32>() {
                Ok(number) if number >= 1 && number as usize <= *count => Ok(number - 1),
                _ => Err(UnknownName {
                    fact,
                    hint: match count {
                        1 => format!("the only {noun} is 1"),
                        _ => format!("{noun}s are numbered from 1 to {count}"),
                    },
                }),
            },
            Some(names) => match names.iter().position(|known| *known == name) {
                Some(place) => Ok(place as u32),
                None => Err(UnknownName {
                    fact,
                    hint: match (nearest(name, names), names.first()) {
                        (Some(near), _) => format!("did you mean `{near}`?"),
                        (None, Some(first)) => format!("{noun}s have names such as `{first}`"),
                        (None, None) => format!("there are no {noun}s"),
                    },
                }),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_has_a_suggestion() {
        let names = |names: Option<Vec<&'static str>>| Names { noun: "host", names, count: 12 };
        let named = names(Some(vec!["news.example", "shop.example"]));
        assert_eq!(named.find("shop.example"), Ok(1));
        let hint = |it: Names<'_>, name: &str| it.find(name).map_err(|unknown| unknown.hint);
        assert_eq!(hint(named, "new.example"), Err("did you mean `news.example`?".to_owned()));
        let (first, last) = (names(None).find("1"), names(None).find("12"));
        assert_eq!((first, last), (Ok(0), Ok(11)));
        for text in ["0", "13", "x", "-1", ""] {
            let expect = Err("hosts are numbered from 1 to 12".to_owned());
            assert_eq!(hint(names(None), text), expect, "{text}");
        }
    }
}
