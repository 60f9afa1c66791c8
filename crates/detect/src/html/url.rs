//! URLs without the parts that change while the target does not.

use super::reference::decode_reference;
use crate::word_list::{WordSet, word_list};

static VOLATILE_PARAMETERS: WordSet = WordSet::new(word_list!("page/volatile_parameters.txt"));

/// Removes the fragment, the session in the path, and parameters for sessions, campaigns and cache
/// busting.
pub(crate) fn stable_url(url: &str) -> String {
    let url = decode_references(url.trim());
    let url = url.split('#').next().unwrap_or_default();
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let mut plain = match path.to_ascii_lowercase().find(";jsessionid=") {
        Some(at) => path[..at].to_owned(),
        None => path.to_owned(),
    };
    let stable = query.split('&').filter(|it| !it.is_empty() && !is_volatile_parameter(it));
    for (at, parameter) in stable.enumerate() {
        plain.push(if at == 0 { '?' } else { '&' });
        plain.push_str(parameter);
    }
    plain
}

fn decode_references(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        // In a URL, `&copy=1` is a parameter, not a reference.
        let is_reference = rest[at + 1..].starts_with('#') || rest[at..].starts_with("&amp;");
        let (character, length) =
            if is_reference { decode_reference(&rest[at..]) } else { ('&', 1) };
        out.push(character);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    out
}

/// True if the parameter may change while the target does not.
fn is_volatile_parameter(parameter: &str) -> bool {
    let name = parameter.split('=').next().unwrap_or_default().to_ascii_lowercase();
    name.starts_with("utm_") || VOLATILE_PARAMETERS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_campaigns_and_fragments_are_removed() {
        assert_eq!(stable_url("/a?id=1&amp;sid=77&utm_source=x#top"), "/a?id=1");
        assert_eq!(stable_url("/a;jsessionid=1A?q=x"), "/a?q=x");
        assert_eq!(stable_url("/style.css?v=123"), "/style.css");
        assert_eq!(stable_url("/a?copy=1&copy=2"), "/a?copy=1&copy=2");
    }
}
