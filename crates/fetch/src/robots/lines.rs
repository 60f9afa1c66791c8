//! Tolerant parser for robots.txt lines.

/// Key of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RobotsKey {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

/// Names of the keys, with the misspellings that large crawlers accept.
const KEY_NAMES: &[(RobotsKey, &[&str])] = &[
    (RobotsKey::UserAgent, &["user-agent", "useragent", "user agent"]),
    (RobotsKey::Allow, &["allow"]),
    (
        RobotsKey::Disallow,
        &["disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"],
    ),
    (RobotsKey::CrawlDelay, &["crawl-delay", "crawldelay"]),
    (RobotsKey::Sitemap, &["sitemap", "site-map"]),
];

/// Iterator over the records: line number, key and value.
pub(super) struct RobotsLines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> RobotsLines<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        // Some editors leave only part of the byte-order mark behind.
        let mark = b"\xef\xbb\xbf".iter().zip(bytes).take_while(|(a, b)| a == b).count();
        Self { rest: &bytes[mark..], number: 0 }
    }

    /// Returns the next line, ended by CR, LF, CR LF or the end of the file (§2.2).
    fn next_line(&mut self) -> Option<&'a [u8]> {
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

impl<'a> Iterator for RobotsLines<'a> {
    type Item = (usize, RobotsKey, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.next_line()?;
            let comment = memchr::memchr(b'#', line).unwrap_or(line.len());
            if let Some((key, value)) = split_line(line[..comment].trim_ascii()) {
                return Some((self.number, key, value));
            }
        }
    }
}

fn split_line(line: &[u8]) -> Option<(RobotsKey, &[u8])> {
    if let Some(colon) = memchr::memchr(b':', line) {
        return Some((parse_key(line[..colon].trim_ascii())?, line[colon + 1..].trim_ascii()));
    }
    // A space between two words may replace the colon.
    let blank = line.iter().position(|byte| byte.is_ascii_whitespace())?;
    let value = line[blank..].trim_ascii();
    let is_word = !value.iter().any(|byte| byte.is_ascii_whitespace());
    is_word.then(|| parse_key(&line[..blank]).map(|key| (key, value))).flatten()
}

fn parse_key(name: &[u8]) -> Option<RobotsKey> {
    let is = |known: &&str| known.as_bytes().eq_ignore_ascii_case(name);
    KEY_NAMES.iter().find(|(_, names)| names.iter().any(is)).map(|(key, _)| *key)
}
