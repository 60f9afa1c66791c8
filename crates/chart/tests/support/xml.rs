//! A reader for as much XML as a figure uses, strict about all of it.

#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) tag: String,
    pub(crate) attributes: Vec<(String, String)>,
    /// Directly inside, unescaped.
    pub(crate) text: String,
}

impl Element {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn number(&self, name: &str) -> f64 {
        self.attribute(name).and_then(|value| value.parse().ok()).unwrap_or(f64::NAN)
    }

    /// Returns all positions: of the element, its far corner, or along its path. Arcs are relative and left out.
    pub(crate) fn points(&self) -> Vec<(f64, f64)> {
        match self.tag.as_str() {
            "rect" => {
                let (x, y) = (self.number("x"), self.number("y"));
                vec![(x, y), (x + self.number("width"), y + self.number("height"))]
            }
            "circle" => vec![(self.number("cx"), self.number("cy"))],
            "text" => vec![(self.number("x"), self.number("y"))],
            "path" => self
                .attribute("d")
                .unwrap_or_default()
                .split(['M', 'L'])
                .skip(1)
                .map(|pair| {
                    let pair = pair.split(['Z', 'a']).next().unwrap_or_default();
                    let (x, y) = pair.split_once(' ').unwrap_or_default();
                    (x.parse().unwrap_or(f64::NAN), y.parse().unwrap_or(f64::NAN))
                })
                .collect(),
            _ => Vec::new(),
        }
    }
}

/// Returns the elements in document order, or what is wrong.
pub(crate) fn parse(document: &str) -> Result<Vec<Element>, String> {
    // XML 1.0 §2.2, production [2].
    let forbidden =
        |c: &char| (*c < ' ' && !"\t\n\r".contains(*c)) || matches!(c, '\u{fffe}' | '\u{ffff}');
    if let Some(c) = document.chars().find(forbidden) {
        return Err(format!("forbidden character {c:?}"));
    }
    let mut elements: Vec<Element> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut rest = document;
    while let Some(start) = rest.find('<') {
        let text = unescape(&rest[..start])?;
        match open.last() {
            Some(&inside) => elements[inside].text.push_str(&text),
            None if text.trim().is_empty() => {}
            None => return Err(format!("text outside the root: {text}")),
        }
        let end = rest[start..].find('>').ok_or("a tag without end")? + start;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let closed = open.pop().ok_or(format!("nothing to close: {name}"))?;
            if elements[closed].tag != name {
                return Err(format!("{} closed by {name}", elements[closed].tag));
            }
            continue;
        }
        if open.is_empty() && !elements.is_empty() {
            return Err("two roots".to_owned());
        }
        let (tag, empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        elements.push(element(tag)?);
        if !empty {
            open.push(elements.len() - 1);
        }
    }
    match (open.is_empty(), rest.trim()) {
        (true, "") => Ok(elements),
        _ => Err(format!("{} elements left open, then {rest:?}", open.len())),
    }
}

fn element(tag: &str) -> Result<Element, String> {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(format!("not a name: {name:?}"));
    }
    let mut attributes: Vec<(String, String)> = Vec::new();
    while !rest.is_empty() {
        let (key, value) = rest.split_once("=\"").ok_or(format!("not an attribute: {rest}"))?;
        let (value, after) = value.split_once('"').ok_or(format!("an open quote: {rest}"))?;
        if !key.chars().all(|c| c.is_ascii_alphabetic() || c == '-') || value.contains('<') {
            return Err(format!("not an attribute: {key}={value}"));
        }
        if attributes.iter().any(|(other, _)| other == key) {
            return Err(format!("{key} given twice"));
        }
        attributes.push((key.to_owned(), unescape(value)?));
        rest = match after.strip_prefix(' ') {
            Some(after) => after,
            None if after.is_empty() => after,
            None => return Err(format!("no space before {after}")),
        };
    }
    Ok(Element { tag: name.to_owned(), attributes, text: String::new() })
}

fn unescape(text: &str) -> Result<String, String> {
    let mut pieces = text.split('&');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (entity, after) = piece.split_once(';').ok_or(format!("a bare ampersand: {piece}"))?;
        plain.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            _ => return Err(format!("unknown entity: {entity}")),
        });
        plain.push_str(after);
    }
    Ok(plain)
}
