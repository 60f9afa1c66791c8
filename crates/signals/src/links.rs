//! `Link` headers (RFC 8288), as far as hubs need them.

use url::Url;

use crate::address::LONGEST;

/// Hubs that are kept, at most.
const MOST_HUBS: usize = 8;

/// What links say of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Hubs that tell when it changes (`WebSub`).
    pub hub: Vec<Url>,
    /// The URL under which hubs know it.
    pub itself: Option<Url>,
}

/// Reads the values of `Link` headers of the document at `base`. What makes no sense is passed over.
pub fn links<'a>(values: impl IntoIterator<Item = &'a str>, base: &Url) -> Links {
    let mut links = Links::default();
    for value in values {
        let mut rest = value;
        while let Some(link) = next(&mut rest) {
            let about_another = link.anchor.is_some_and(|it| {
                base.join(&it).is_ok_and(|it| it.as_str().trim_end_matches('#') != base.as_str())
            });
            if !about_another {
                links.add(link.rel.as_deref().unwrap_or_default(), link.target, base);
            }
        }
    }
    links
}

impl Links {
    /// Takes a link if it is to a hub or to the document itself.
    pub(crate) fn add(&mut self, rel: &str, target: &str, base: &Url) {
        let has = |wanted: &str| rel.split_whitespace().any(|it| it.eq_ignore_ascii_case(wanted));
        let (is_hub, is_itself) = (has("hub"), has("self"));
        let is_address = !target.trim().is_empty() && target.len() <= LONGEST;
        if !is_hub && !is_itself || !is_address {
            return;
        }
        let Ok(mut url) = base.join(target.trim()) else { return };
        if !matches!(url.scheme(), "http" | "https") {
            return;
        }
        url.set_fragment(None);
        if is_hub && self.hub.len() < MOST_HUBS && !self.hub.contains(&url) {
            self.hub.push(url.clone());
        }
        if is_itself && self.itself.is_none() {
            self.itself = Some(url);
        }
    }
}

struct Link<'a> {
    target: &'a str,
    rel: Option<String>,
    anchor: Option<String>,
}

/// The next link of a value. What stands before it is passed over.
fn next<'a>(rest: &mut &'a str) -> Option<Link<'a>> {
    let (_, after) = rest.split_once('<')?;
    let (target, after) = after.split_once('>')?;
    let mut link = Link { target, rel: None, anchor: None };
    let mut after = after.trim_start();
    while let Some(parameter) = after.strip_prefix(';') {
        let parameter = parameter.trim_start();
        let end = parameter.find(['=', ';', ',']).unwrap_or(parameter.len());
        let name = parameter[..end].trim();
        after = &parameter[end..];
        let value = after.strip_prefix('=').map(|it| value(it.trim_start()));
        let Some((value, behind)) = value else { continue };
        after = behind.trim_start();
        // RFC 8288 §3.3: the first counts.
        if name.eq_ignore_ascii_case("rel") {
            link.rel.get_or_insert(value);
        } else if name.eq_ignore_ascii_case("anchor") {
            link.anchor.get_or_insert(value);
        }
    }
    *rest = after;
    Some(link)
}

/// A value of a parameter, quoted or not, and what is behind it.
fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([';', ',']).unwrap_or(text.len());
        return (text[..end].trim().to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut signs = quoted.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' => return (value, &quoted[at + 1..]),
            '\\' => value.extend(signs.next().map(|(_, sign)| sign)),
            _ => value.push(sign),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[&str], hubs: &[&str], itself: Option<&str>) {
        let base = Url::parse("https://a.example/feed").unwrap();
        let found = links(values.iter().copied(), &base);
        assert_eq!(found.hub.iter().map(Url::as_str).collect::<Vec<_>>(), hubs, "{values:?}");
        assert_eq!(found.itself.as_ref().map(Url::as_str), itself, "{values:?}");
    }

    #[test]
    fn rfc_8288() {
        let (hub, itself) = ("https://hub.example/", Some("https://a.example/feed"));
        check(&["<https://hub.example/>; rel=\"hub\""], &[hub], None);
        check(
            &["<https://hub.example/>;rel=hub, <https://a.example/feed>;rel=self"],
            &[hub],
            itself,
        );
        check(&["<https://hub.example/>; REL=Hub", "</feed>; rel=self"], &[hub], itself);
        // §3.3: several relations in one parameter; only the first parameter counts.
        check(&["</feed>; rel=\"next  self\""], &[], itself);
        check(&["</feed>; rel=next; rel=self"], &[], None);
        // §3: signs in quotes and in targets separate nothing.
        check(
            &["</x,y>; title=\"a, <b>; rel=\\\"hub\\\"\"; rel=self"],
            &[],
            Some("https://a.example/x,y"),
        );
        // §3.2: a link of another document.
        check(&["</feed>; rel=self; anchor=\"/other\""], &[], None);
        check(&["</feed>; rel=self; anchor=\"#\""], &[], itself);
        check(&["</feed>; crossorigin; rel=self"], &[], itself);
        check(&["</feed> ; rel = self"], &[], itself);
    }

    #[test]
    fn what_makes_no_sense_is_passed_over() {
        check(
            &["", "<", "<>; rel=hub", "<x", "hub", "; rel=hub", "<a>; rel=\"hub"],
            &["https://a.example/a"],
            None,
        );
        check(&["<ftp://h/>; rel=hub, <javascript:x>; rel=self, <http://>; rel=hub"], &[], None);
        let many: String = (0..100).map(|it| format!("</{it}>; rel=hub,")).collect();
        let base = Url::parse("https://a.example/").unwrap();
        assert_eq!(links([many.as_str()], &base).hub.len(), MOST_HUBS);
    }
}
