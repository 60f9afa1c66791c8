//! Where a document comes from.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::commands::detect::DetectArguments;
use crate::commands::fetch::document;
use crate::failure::Failure;

/// A document, and what is known of it.
pub(crate) struct Loaded {
    pub(crate) bytes: Vec<u8>,
    pub(crate) content_type: Option<String>,
    pub(crate) charset: Option<String>,
}

/// The one place that knows where documents are.
pub(crate) fn load(source: &str, arguments: &DetectArguments) -> Result<Loaded, Failure> {
    let charset = arguments.charset.clone();
    if source == "-" {
        let mut bytes = Vec::new();
        io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::new(format!("cannot read standard input: {error}")))?;
        return Ok(Loaded { bytes, content_type: None, charset });
    }
    let begins =
        |it: &str| source.get(..it.len()).is_some_and(|start| start.eq_ignore_ascii_case(it));
    if begins("http://") || begins("https://") {
        let content = document(source, &arguments.allow)?;
        let charset = charset.or_else(|| Some(content.charset().name().to_owned()));
        return Ok(Loaded { bytes: content.body, content_type: content.media_type, charset });
    }
    if let Some((scheme, path)) = source.split_once("://").filter(|(it, _)| is_scheme(it)) {
        let hint = if scheme.eq_ignore_ascii_case("file") {
            format!("give the path alone: `{path}`")
        } else {
            "give a URL that begins with `https://` or `http://`, or the path of a file".to_owned()
        };
        return Err(Failure::new(format!("cannot read {source}: no {scheme} URLs")).hint(hint));
    }
    let bytes = fs::read(source).map_err(|error| {
        Failure::new(format!("cannot read {source}: {error}"))
            .hint("give the path of a file, a URL, or `-` for standard input")
    })?;
    Ok(Loaded { bytes, content_type: content_type(Path::new(source)), charset })
}

fn is_scheme(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it))
}

/// What the name of a file says; most say nothing that the bytes do not.
fn content_type(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let known = match extension.as_str() {
        "html" | "htm" | "xhtml" => "text/html",
        "json" | "jsonl" | "ndjson" => "application/json",
        "xml" | "rss" | "atom" => "application/xml",
        _ => return None,
    };
    Some(known.to_owned())
}
