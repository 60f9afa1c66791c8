//! Character references. The names are those that pages use; one that is not known stays as it is
//! written, which is the same in every version of a page.

/// The character of a reference at the start of `text`, and how many bytes it takes. What is no
/// reference is its first character.
pub(crate) fn entity(text: &str) -> (char, usize) {
    let bytes = text.as_bytes();
    let as_it_is = ('&', 1);
    if bytes.get(1) == Some(&b'#') {
        return number(bytes).unwrap_or(as_it_is);
    }
    let longest = bytes.len().min(1 + LONGEST);
    let end = (1..longest).find(|&at| !bytes[at].is_ascii_alphanumeric()).unwrap_or(longest);
    let name = &text[1..end];
    let Ok(index) = NAMES.binary_search_by(|(known, _)| (*known).cmp(name)) else {
        return as_it_is;
    };
    let semicolon = usize::from(bytes.get(end) == Some(&b';'));
    (NAMES[index].1, end + semicolon)
}

fn number(bytes: &[u8]) -> Option<(char, usize)> {
    let hexadecimal = matches!(bytes.get(2), Some(b'x' | b'X'));
    let (radix, start) = if hexadecimal { (16, 3) } else { (10, 2) };
    let (mut value, mut at) = (0_u32, start);
    while let Some(digit) = bytes.get(at).and_then(|it| char::from(*it).to_digit(radix)) {
        value = value.saturating_mul(radix).saturating_add(digit);
        at += 1;
    }
    if at == start {
        return None;
    }
    let character = match value {
        // Pages that mean windows-1252 by these numbers mean its quotes and dashes.
        0x80..=0x9f => WINDOWS[value as usize - 0x80],
        0 => '\u{fffd}',
        _ => char::from_u32(value).unwrap_or('\u{fffd}'),
    };
    Some((character, at + usize::from(bytes.get(at) == Some(&b';'))))
}

const WINDOWS: [char; 32] = [
    '€', '\u{fffd}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{fffd}', 'Ž',
    '\u{fffd}', '\u{fffd}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ',
    '\u{fffd}', 'ž', 'Ÿ',
];

const LONGEST: usize = 8;

/// Sorted by name.
const NAMES: &[(&str, char)] = &[
    ("AElig", 'Æ'), ("AMP", '&'), ("Aacute", 'Á'), ("Acirc", 'Â'), ("Agrave", 'À'),
    ("Alpha", 'Α'), ("Aring", 'Å'), ("Atilde", 'Ã'), ("Auml", 'Ä'), ("Beta", 'Β'), ("COPY", '©'),
    ("Ccaron", 'Č'), ("Ccedil", 'Ç'), ("Chi", 'Χ'), ("Dagger", '‡'), ("Delta", 'Δ'), ("ETH", 'Ð'),
    ("Eacute", 'É'), ("Ecirc", 'Ê'), ("Egrave", 'È'), ("Epsilon", 'Ε'), ("Eta", 'Η'),
    ("Euml", 'Ë'), ("GT", '>'), ("Gamma", 'Γ'), ("Iacute", 'Í'), ("Icirc", 'Î'), ("Igrave", 'Ì'),
    ("Iota", 'Ι'), ("Iuml", 'Ï'), ("Kappa", 'Κ'), ("LT", '<'), ("Lambda", 'Λ'), ("Lstrok", 'Ł'),
    ("Mu", 'Μ'), ("NewLine", '\n'), ("Ntilde", 'Ñ'), ("Nu", 'Ν'), ("OElig", 'Œ'), ("Oacute", 'Ó'),
    ("Ocirc", 'Ô'), ("Ograve", 'Ò'), ("Omega", 'Ω'), ("Omicron", 'Ο'), ("Oslash", 'Ø'),
    ("Otilde", 'Õ'), ("Ouml", 'Ö'), ("Phi", 'Φ'), ("Pi", 'Π'), ("Prime", '″'), ("Psi", 'Ψ'),
    ("QUOT", '"'), ("REG", '®'), ("Rho", 'Ρ'), ("Scaron", 'Š'), ("Sigma", 'Σ'), ("THORN", 'Þ'),
    ("Tab", '\t'), ("Tau", 'Τ'), ("Theta", 'Θ'), ("Uacute", 'Ú'), ("Ucirc", 'Û'), ("Ugrave", 'Ù'),
    ("Upsilon", 'Υ'), ("Uuml", 'Ü'), ("Xi", 'Ξ'), ("Yacute", 'Ý'), ("Yuml", 'Ÿ'), ("Zcaron", 'Ž'),
    ("Zeta", 'Ζ'), ("aacute", 'á'), ("acirc", 'â'), ("acute", '´'), ("aelig", 'æ'),
    ("agrave", 'à'), ("alefsym", 'ℵ'), ("alpha", 'α'), ("amp", '&'), ("and", '∧'), ("ang", '∠'),
    ("aogon", 'ą'), ("apos", '\''), ("aring", 'å'), ("ast", '*'), ("asymp", '≈'), ("atilde", 'ã'),
    ("auml", 'ä'), ("bdquo", '„'), ("beta", 'β'), ("brvbar", '¦'), ("bsol", '\\'), ("bull", '•'),
    ("cacute", 'ć'), ("cap", '∩'), ("ccaron", 'č'), ("ccedil", 'ç'), ("cedil", '¸'),
    ("cent", '¢'), ("check", '✓'), ("chi", 'χ'), ("circ", 'ˆ'), ("clubs", '♣'), ("colon", ':'),
    ("comma", ','), ("commat", '@'), ("cong", '≅'), ("copy", '©'), ("crarr", '↵'), ("cup", '∪'),
    ("curren", '¤'), ("dArr", '⇓'), ("dagger", '†'), ("darr", '↓'), ("deg", '°'), ("delta", 'δ'),
    ("diams", '♦'), ("divide", '÷'), ("dollar", '$'), ("eacute", 'é'), ("ecaron", 'ě'),
    ("ecirc", 'ê'), ("egrave", 'è'), ("empty", '∅'), ("emsp", '\u{2003}'), ("ensp", '\u{2002}'),
    ("eogon", 'ę'), ("epsilon", 'ε'), ("equals", '='), ("equiv", '≡'), ("eta", 'η'), ("eth", 'ð'),
    ("euml", 'ë'), ("euro", '€'), ("excl", '!'), ("exist", '∃'), ("fnof", 'ƒ'), ("forall", '∀'),
    ("frac12", '½'), ("frac14", '¼'), ("frac34", '¾'), ("frasl", '⁄'), ("gamma", 'γ'),
    ("gbreve", 'ğ'), ("ge", '≥'), ("gt", '>'), ("hArr", '⇔'), ("hairsp", '\u{200a}'),
    ("harr", '↔'), ("hearts", '♥'), ("hellip", '…'), ("hyphen", '‐'), ("iacute", 'í'),
    ("icirc", 'î'), ("iexcl", '¡'), ("igrave", 'ì'), ("image", 'ℑ'), ("infin", '∞'),
    ("inodot", 'ı'), ("int", '∫'), ("iota", 'ι'), ("iquest", '¿'), ("isin", '∈'), ("iuml", 'ï'),
    ("kappa", 'κ'), ("lArr", '⇐'), ("lambda", 'λ'), ("lang", '〈'), ("laquo", '«'), ("larr", '←'),
    ("lbrace", '{'), ("lbrack", '['), ("lceil", '⌈'), ("ldquo", '“'), ("le", '≤'),
    ("lfloor", '⌊'), ("lowast", '∗'), ("lowbar", '_'), ("loz", '◊'), ("lpar", '('),
    ("lrm", '\u{200e}'), ("lsaquo", '‹'), ("lsquo", '‘'), ("lstrok", 'ł'), ("lt", '<'),
    ("macr", '¯'), ("mdash", '—'), ("micro", 'µ'), ("middot", '·'), ("minus", '−'), ("mu", 'μ'),
    ("nabla", '∇'), ("nacute", 'ń'), ("nbsp", '\u{a0}'), ("ndash", '–'), ("ne", '≠'), ("ni", '∋'),
    ("not", '¬'), ("notin", '∉'), ("nsub", '⊄'), ("ntilde", 'ñ'), ("nu", 'ν'), ("num", '#'),
    ("numsp", '\u{2007}'), ("oacute", 'ó'), ("ocirc", 'ô'), ("odblac", 'ő'), ("oelig", 'œ'),
    ("ograve", 'ò'), ("oline", '‾'), ("omega", 'ω'), ("omicron", 'ο'), ("oplus", '⊕'),
    ("or", '∨'), ("ordf", 'ª'), ("ordm", 'º'), ("oslash", 'ø'), ("otilde", 'õ'), ("otimes", '⊗'),
    ("ouml", 'ö'), ("para", '¶'), ("part", '∂'), ("percnt", '%'), ("period", '.'),
    ("permil", '‰'), ("perp", '⊥'), ("phi", 'φ'), ("phone", '☎'), ("pi", 'π'), ("piv", 'ϖ'),
    ("plus", '+'), ("plusmn", '±'), ("pound", '£'), ("prime", '′'), ("prod", '∏'), ("prop", '∝'),
    ("psi", 'ψ'), ("quest", '?'), ("quot", '"'), ("rArr", '⇒'), ("radic", '√'), ("rang", '〉'),
    ("raquo", '»'), ("rarr", '→'), ("rbrace", '}'), ("rbrack", ']'), ("rcaron", 'ř'),
    ("rceil", '⌉'), ("rdquo", '”'), ("real", 'ℜ'), ("reg", '®'), ("rfloor", '⌋'), ("rho", 'ρ'),
    ("rlm", '\u{200f}'), ("rpar", ')'), ("rsaquo", '›'), ("rsquo", '’'), ("sacute", 'ś'),
    ("sbquo", '‚'), ("scaron", 'š'), ("scedil", 'ş'), ("sdot", '⋅'), ("sect", '§'), ("semi", ';'),
    ("shy", '\u{ad}'), ("sigma", 'σ'), ("sigmaf", 'ς'), ("sim", '∼'), ("sol", '/'),
    ("spades", '♠'), ("star", '☆'), ("starf", '★'), ("sub", '⊂'), ("sube", '⊆'), ("sum", '∑'),
    ("sup", '⊃'), ("sup1", '¹'), ("sup2", '²'), ("sup3", '³'), ("supe", '⊇'), ("szlig", 'ß'),
    ("tau", 'τ'), ("there4", '∴'), ("theta", 'θ'), ("thetasym", 'ϑ'), ("thinsp", '\u{2009}'),
    ("thorn", 'þ'), ("tilde", '˜'), ("times", '×'), ("trade", '™'), ("uArr", '⇑'),
    ("uacute", 'ú'), ("uarr", '↑'), ("ucirc", 'û'), ("udblac", 'ű'), ("ugrave", 'ù'),
    ("uml", '¨'), ("upsih", 'ϒ'), ("upsilon", 'υ'), ("uuml", 'ü'), ("vert", '|'), ("weierp", '℘'),
    ("xi", 'ξ'), ("yacute", 'ý'), ("yen", '¥'), ("yuml", 'ÿ'), ("zcaron", 'ž'), ("zdot", 'ż'),
    ("zeta", 'ζ'), ("zwj", '\u{200d}'), ("zwnj", '\u{200c}'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_not_too_long() {
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        assert!(NAMES.iter().all(|(name, _)| name.len() <= LONGEST));
    }

    #[track_caller]
    fn check(text: &str, character: char, length: usize) {
        assert_eq!(entity(text), (character, length));
    }

    #[test]
    fn numbers_and_names() {
        check("&amp;x", '&', 5);
        check("&euro", '€', 5);
        check("&#8364;", '€', 7);
        check("&#x20AC;", '€', 8);
        check("&#146;", '’', 6);
        check("&#99999999999;", '\u{fffd}', 14);
        check("&nothing;", '&', 1);
        check("&", '&', 1);
    }
}
