//! Sources and hosts by the names that people have for them.

use freshet_sim::Origin;
use freshet_tables::nearest;

/// What can be named.
pub(crate) struct Names<'a> {
    what: &'static str,
    /// `None`: they go by their numbers, from 1.
    names: Option<Vec<&'a str>>,
    there: usize,
}

/// A name that nobody has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unknown {
    pub(crate) fact: String,
    pub(crate) hint: String,
}

impl<'a> Names<'a> {
    pub(crate) fn of_sources(origin: &'a Origin) -> Self {
        Self { what: "source", names: origin.source_names(), there: origin.sources() }
    }

    pub(crate) fn of_hosts(origin: &'a Origin) -> Self {
        Self { what: "host", names: origin.host_names(), there: origin.hosts() }
    }

    /// The name of a number that counts from 0.
    pub(crate) fn name(&self, at: u32) -> String {
        let name = self.names.as_ref().and_then(|names| names.get(at as usize));
        name.map_or_else(|| (at + 1).to_string(), |name| (*name).to_owned())
    }

    /// The number of a name, counted from 0.
    pub(crate) fn find(&self, name: &str) -> Result<u32, Unknown> {
        let Self { what, there, .. } = self;
        let fact = format!("there is no {what} `{name}`");
        match &self.names {
            None => match name.parse::<u32>() {
                Ok(number) if number >= 1 && number as usize <= *there => Ok(number - 1),
                _ => Err(Unknown {
                    fact,
                    hint: match there {
                        1 => format!("the only {what} is 1"),
                        _ => format!("{what}s are numbered from 1 to {there}"),
                    },
                }),
            },
            Some(names) => match names.iter().position(|known| *known == name) {
                Some(place) => Ok(place as u32),
                None => Err(Unknown {
                    fact,
                    hint: match (nearest(name, names), names.first()) {
                        (Some(near), _) => format!("did you mean `{near}`?"),
                        (None, Some(first)) => format!("{what}s have names such as `{first}`"),
                        (None, None) => format!("there are no {what}s at all"),
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
    fn a_name_is_found_or_its_neighbour_is_named() {
        let names = |names: Option<Vec<&'static str>>| Names { what: "host", names, there: 12 };
        let named = names(Some(vec!["news.example", "shop.example"]));
        assert_eq!(named.find("shop.example"), Ok(1));
        let hint = |it: Names<'_>, name: &str| it.find(name).map_err(|unknown| unknown.hint);
        assert_eq!(hint(named, "new.example"), Err("did you mean `news.example`?".to_owned()));
        let (first, last) = (names(None).find("1"), names(None).find("12"));
        assert_eq!((first, last), (Ok(0), Ok(11)));
        for wrong in ["0", "13", "x", "-1", ""] {
            let expect = Err("hosts are numbered from 1 to 12".to_owned());
            assert_eq!(hint(names(None), wrong), expect, "{wrong}");
        }
    }
}
