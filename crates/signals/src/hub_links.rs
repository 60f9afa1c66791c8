//! `Link` headers (RFC 8288) of documents with WebSub hubs.

use url::Url;

use crate::entry_url::MAX_URL_LEN;

/// Maximum number of hubs kept.
const MAX_HUBS: usize = 8;

/// Hub links of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HubLinks {
    /// Hubs that announce changes of the document (`WebSub`).
    pub hubs: Vec<Url>,
    /// URL under which the hubs know the document.
    pub self_url: Option<Url>,
}

/// Parses the `Link` headers of the document at `base`. Invalid values are ignored.
pub fn parse_link_headers<'a>(values: impl IntoIterator<Item = &'a str>, base: &Url) -> HubLinks {
    let mut links = HubLinks::default();
    for value in values {
        let mut rest = value;
        while let Some(link) = next_link(&mut rest) {
            let has_other_context = link.anchor.is_some_and(|it| {
                base.join(&it).is_ok_and(|it| it.as_str().trim_end_matches('#') != base.as_str())
            });
            if !has_other_context {
                links.add_link(link.rel.as_deref().unwrap_or_default(), link.target, base);
            }
        }
    }
    links
}

impl HubLinks {
    /// Adds a link if it is to a hub or to the document itself.
    pub(crate) fn add_link(&mut self, rel: &str, target: &str, base: &Url) {
        let has = |name: &str| rel.split_whitespace().any(|it| it.eq_ignore_ascii_case(name));
        let (is_hub, is_self) = (has("hub"), has("self"));
        let is_address = !target.trim().is_empty() && target.len() <= MAX_URL_LEN;
        if !is_hub && !is_self || !is_address {
            return;
        }
        let Ok(mut url) = base.join(target.trim()) else { return };
        if !matches!(url.scheme(), "http" | "https") {
            return;
        }
        url.set_fragment(None);
        if is_hub && self.hubs.len() < MAX_HUBS && !self.hubs.contains(&url) {
            self.hubs.push(url.clone());
        }
        if is_self && self.self_url.is_none() {
            self.self_url = Some(url);
        }
    }
}

struct Link<'a> {
    target: &'a str,
    rel: Option<String>,
    anchor: Option<String>,
}

/// Returns the next link of a header value and skips anything before it.
fn next_link<'a>(rest: &mut &'a str) -> Option<Link<'a>> {
    let (_, after) = rest.split_once('<')?;
    let (target, after) = after.split_once('>')?;
    let mut link = Link { target, rel: None, anchor: None };
    let mut after = after.trim_start();
    while let Some(parameter) = after.strip_prefix(';') {
        let parameter = parameter.trim_start();
        let end = parameter.find(['=', ';', ',']).unwrap_or(parameter.len());
        let name = parameter[..end].trim();
        after = &parameter[end..];
        let value = after.strip_prefix('=').map(|it| parameter_value(it.trim_start()));
        let Some((value, rest_after)) = value else { continue };
        after = rest_after.trim_start();
        // RFC 8288 §3.3: the first occurrence counts.
        if name.eq_ignore_ascii_case("rel") {
            link.rel.get_or_insert(value);
        } else if name.eq_ignore_ascii_case("anchor") {
            link.anchor.get_or_insert(value);
        }
    }
    *rest = after;
    Some(link)
}

/// Returns the value of a parameter, quoted or not, and the text after it.
fn parameter_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([';', ',']).unwrap_or(text.len());
        return (text[..end].trim().to_owned(), &text[end..]);
    };
    let mut value = String::new();
    let mut characters = quoted.char_indices();
    while let Some((index, character)) = characters.next() {
        match character {
            '"' => return (value, &quoted[index + 1..]),
            '\\' => value.extend(characters.next().map(|(_, character)| character)),
            _ => value.push(character),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[&str], hubs: &[&str], self_url: Option<&str>) {
        let base = Url::parse("https://a.example/feed").unwrap();
        let found = parse_link_headers(values.iter().copied(), &base);
        assert_eq!(found.hubs.iter().map(Url::as_str).collect::<Vec<_>>(), hubs, "{values:?}");
        assert_eq!(found.self_url.as_ref().map(Url::as_str), self_url, "{values:?}");
    }

    #[test]
    fn links_are_parsed_by_rfc_8288() {
        let (hub, self_url) = ("https://hub.example/", Some("https://a.example/feed"));
        check(&["<https://hub.example/>; rel=\"hub\""], &[hub], None);
        check(
            &["<https://hub.example/>;rel=hub, <https://a.example/feed>;rel=self"],
            &[hub],
            self_url,
        );
        check(&["<https://hub.example/>; REL=Hub", "</feed>; rel=self"], &[hub], self_url);
        // §3.3: several relations in one parameter; only the first parameter counts.
        check(&["</feed>; rel=\"next  self\""], &[], self_url);
        check(&["</feed>; rel=next; rel=self"], &[], None);
        // §3: delimiters within quotes and targets do not count.
        check(
            &["</x,y>; title=\"a, <b>; rel=\\\"hub\\\"\"; rel=self"],
            &[],
            Some("https://a.example/x,y"),
        );
        // §3.2: a link of another document.
        check(&["</feed>; rel=self; anchor=\"/other\""], &[], None);
        check(&["</feed>; rel=self; anchor=\"#\""], &[], self_url);
        check(&["</feed>; crossorigin; rel=self"], &[], self_url);
        check(&["</feed> ; rel = self"], &[], self_url);
    }

    #[test]
    fn invalid_values_are_ignored() {
        check(
            &["", "<", "<>; rel=hub", "<x", "hub", "; rel=hub", "<a>; rel=\"hub"],
            &["https://a.example/a"],
            None,
        );
        check(&["<ftp://h/>; rel=hub, <javascript:x>; rel=self, <http://>; rel=hub"], &[], None);
        let many: String = (0..100).map(|it| format!("</{it}>; rel=hub,")).collect();
        let base = Url::parse("https://a.example/").unwrap();
        assert_eq!(parse_link_headers([many.as_str()], &base).hubs.len(), MAX_HUBS);
    }
}
