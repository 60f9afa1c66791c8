//! Loading of documents from files, URLs and standard input.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::commands::detect::DetectArguments;
use crate::commands::fetch::document;
use crate::failure::Failure;

/// Document with its known content type and charset.
pub(crate) struct LoadedDocument {
    pub(crate) bytes: Vec<u8>,
    pub(crate) content_type: Option<String>,
    pub(crate) charset: Option<String>,
}

/// Loads a document.
pub(crate) fn load(source: &str, arguments: &DetectArguments) -> Result<LoadedDocument, Failure> {
    let charset = arguments.charset.clone();
    if source == "-" {
        let mut bytes = Vec::new();
        io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::new(format!("cannot read standard input: {error}")))?;
        return Ok(LoadedDocument { bytes, content_type: None, charset });
    }
    let has_prefix =
        |it: &str| source.get(..it.len()).is_some_and(|start| start.eq_ignore_ascii_case(it));
    if has_prefix("http://") || has_prefix("https://") {
        let content = document(source, &arguments.allow)?;
        let charset = charset.or_else(|| Some(content.charset().name().to_owned()));
        return Ok(LoadedDocument {
            bytes: content.body,
            content_type: content.media_type,
            charset,
        });
    }
    if let Some((scheme, path)) = source.split_once("://").filter(|(it, _)| is_scheme(it)) {
        let hint = if scheme.eq_ignore_ascii_case("file") {
            format!("give only the path: `{path}`")
        } else {
            "give an HTTP or HTTPS URL, or the path of a file".to_owned()
        };
        let fact = format!("cannot read {source}: {scheme} URLs are not supported");
        return Err(Failure::new(fact).with_hint(hint));
    }
    let bytes = fs::read(source).map_err(|error| {
        Failure::new(format!("cannot read {source}: {error}"))
            .with_hint("give the path of a file, a URL, or `-` for standard input")
    })?;
    Ok(LoadedDocument { bytes, content_type: content_type(Path::new(source)), charset })
}

fn is_scheme(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it))
}

/// Returns the content type of a file name, for the extensions that tell more than the content.
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
