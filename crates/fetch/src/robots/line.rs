//! Lines as people write them.

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

/// The names of keys, with the slips of the pen that the large crawlers take as meant.
const NAMES: &[(Key, &[&str])] = &[
    (Key::UserAgent, &["user-agent", "useragent", "user agent"]),
    (Key::Allow, &["allow"]),
    (Key::Disallow, &["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"]),
    (Key::CrawlDelay, &["crawl-delay", "crawldelay"]),
    (Key::Sitemap, &["sitemap", "site-map"]),
];

/// The lines that say something: their number, key and value.
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        // Some editors leave only a part of the byte-order mark behind.
        let mark = b"\xef\xbb\xbf".iter().zip(bytes).take_while(|(a, b)| a == b).count();
        Self { rest: &bytes[mark..], number: 0 }
    }

    /// The next line, ended by CR, LF, CR LF or the end of the file (§2.2).
    fn line(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let end = memchr::memchr2(b'\n', b'\r', self.rest).unwrap_or(self.rest.len());
        let (line, rest) = self.rest.split_at(end);
        let ending = if rest.starts_with(b"\r\n") { 2 } else { rest.len().min(1) };
        self.rest = &rest[ending..];
        Some(line)
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, Key, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.line()?;
            let comment = memchr::memchr(b'#', line).unwrap_or(line.len());
            if let Some((key, value)) = split(line[..comment].trim_ascii()) {
                return Some((self.number, key, value));
            }
        }
    }
}

fn split(line: &[u8]) -> Option<(Key, &[u8])> {
    if let Some(colon) = memchr::memchr(b':', line) {
        return Some((key(line[..colon].trim_ascii())?, line[colon + 1..].trim_ascii()));
    }
    // Without a colon a blank between two words is taken for one.
    let blank = line.iter().position(|byte| byte.is_ascii_whitespace())?;
    let value = line[blank..].trim_ascii();
    let is_word = !value.iter().any(|byte| byte.is_ascii_whitespace());
    is_word.then(|| key(&line[..blank]).map(|key| (key, value))).flatten()
}

fn key(name: &[u8]) -> Option<Key> {
    let is = |known: &&str| known.as_bytes().eq_ignore_ascii_case(name);
    NAMES.iter().find(|(_, names)| names.iter().any(is)).map(|(key, _)| *key)
}
