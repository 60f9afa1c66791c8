//! Compares two implementations on a hundred thousand generated files.

use freshet_fetch::RobotsTxt;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::reference;

/// Generates files from a grammar that favors edge cases, with few letters, so that rules match
/// paths.
struct Writer(Pcg64);

impl Writer {
    fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.0.random_range(0..of.len())]
    }

    fn agent(&mut self) -> &'static [u8] {
        self.one(&[
            b"foo".as_slice(),
            b"FOO/1.0",
            b"foo bar",
            b"*",
            b"*",
            b"*",
            b"* x",
            b"*foo",
            b"bar",
            b"foobar",
            b"foo-bar",
            b"fo o",
            b"",
            b"f\xff",
        ])
    }

    fn path(&mut self) -> Vec<u8> {
        let mut path = self.one(&[b"/".as_slice(), b"/", b"/", b"", b"*"]).to_vec();
        for _ in 0..self.0.random_range(0..8) {
            path.extend(self.one(&[
                b"a".as_slice(),
                b"b",
                b"0",
                b"2",
                b"A",
                b"/",
                b"*",
                b"$",
                b"?",
                b"%61",
                b"%2a",
                b"%2A",
                b"%24",
                b"%2f",
                b"%",
                b"%a",
                b"%ff",
                b"\xc3\xa9",
                b"%C3%a9",
                b" ",
                b"~",
                b"%7e",
                b"\"",
                b":",
                b"=",
            ]));
        }
        path
    }

    fn file(&mut self) -> Vec<u8> {
        let mut file = self.one(&[b"".as_slice(), b"", b"", b"\xef\xbb\xbf", b"\xef\xbb"]).to_vec();
        file.extend(self.one(&[b"".as_slice(), b"user-agent:*\n", b"user-agent: foo\n"]));
        for _ in 0..self.0.random_range(0..12) {
            file.extend(self.one(&[b"".as_slice(), b"", b"", b" ", b"\t"]));
            let key = self.one(&[
                b"user-agent".as_slice(),
                b"User-Agent",
                b"useragent",
                b"user agent",
                b"allow",
                b"Allow",
                b"disallow",
                b"disallow",
                b"disallow",
                b"DISALLOW",
                b"disalow",
                b"sitemap",
                b"crawl-delay",
                b"x",
                b"",
                b"#",
            ]);
            file.extend(key);
            file.extend(self.one(&[
                b":".as_slice(),
                b": ",
                b": ",
                b" : ",
                b" ",
                b"  ",
                b"",
                b"::",
            ]));
            if key.eq_ignore_ascii_case(b"user-agent") || key.starts_with(b"user") {
                file.extend(self.agent());
            } else {
                file.extend(self.path());
            }
            file.extend(self.one(&[
                b"".as_slice(),
                b"",
                b"",
                b" ",
                b"#",
                b" # x:y",
                b"\x0c",
                b" z",
            ]));
            file.extend(self.one(&[
                b"\n".as_slice(),
                b"\n",
                b"\r",
                b"\r\n",
                b"\n\n",
                b"\n\r",
                b"",
            ]));
        }
        file
    }

    /// Generates a path, often similar to one of the file.
    fn path_near(&mut self, file: &[u8]) -> String {
        let mut path = String::from_utf8_lossy(&self.path()).into_owned();
        let lines: Vec<&[u8]> = file.split(|byte| b"\r\n #".contains(byte)).collect();
        let line = String::from_utf8_lossy(self.one(&lines)).into_owned();
        if let Some(at) = line.find('/') {
            let stars = self.one(&["", "*", "a", "/b"]);
            path = line[at..].replace('*', stars).replace('$', "") + self.one(&["", "", "a", "?"]);
        }
        if !path.starts_with('/') {
            path.insert(0, '/');
        }
        path
    }
}

#[test]
fn two_implementations_agree_on_a_hundred_thousand_files() {
    let mut writer = Writer(Pcg64::seed_from_u64(9309));
    let (mut checked_count, mut disallowed_count) = (0, 0);
    for number in 0..100_000 {
        let file = writer.file();
        let robots = RobotsTxt::parse(&file);
        for agent in ["foo/1.0 (+x)", "other"] {
            let rules = robots.rules_for_agent(agent);
            for _ in 0..2 {
                let path = writer.path_near(&file);
                let own = rules.check(&path).allowed;
                let other = reference::allows(&file, agent, &path);
                assert_eq!(own, other, "file {number}: {agent} {path}\n{}", file.escape_ascii());
                checked_count += 1;
                disallowed_count += u32::from(!own);
            }
        }
    }
    // Otherwise most of the comparisons would be trivial.
    assert!(disallowed_count > checked_count / 25, "{disallowed_count} of {checked_count}");
}
