//! Mutates files of a small corpus at random, by a seed.

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

pub(crate) struct Mutator {
    seeds: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
    random: Pcg64,
}

impl Mutator {
    /// Reads the files of a corpus directory. `words` are inserted into them.
    pub(crate) fn new(directory: &str, words: &[&str]) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(directory);
        let mut files: Vec<_> =
            std::fs::read_dir(path).unwrap().map(|it| it.unwrap().path()).collect();
        files.sort();
        let seed = number("FRESHET_FUZZ_SEED").unwrap_or(1);
        Self {
            seeds: files.iter().map(|file| std::fs::read(file).unwrap()).collect(),
            words: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
            random: Pcg64::seed_from_u64(seed),
        }
    }

    /// Returns the number of cases to try.
    pub(crate) fn cases(&self, usual: u64) -> u64 {
        number("FRESHET_FUZZ_CASES").unwrap_or(usual)
    }

    pub(crate) fn next(&mut self) -> Vec<u8> {
        let mut bytes = self.seed();
        for _ in 0..self.random.random_range(0..6) {
            let at = self.place(&bytes);
            let to = (at + self.random.random_range(0..20)).min(bytes.len());
            match self.random.random_range(0..7) {
                0 => drop(bytes.drain(at..to)),
                1 => {
                    let part = bytes[at..to].to_vec();
                    bytes.splice(at..at, part);
                }
                2 => {
                    let byte = self.random.random();
                    bytes.insert(at, byte);
                }
                3 if at < bytes.len() => bytes[at] ^= 1 << self.random.random_range(0..8),
                4 => {
                    let other = self.seed();
                    let from = self.place(&other);
                    bytes.splice(at.., other[from..].iter().copied());
                }
                5 => {
                    let times = self.random.random_range(1..200);
                    let part = bytes[at..to].repeat(times);
                    bytes.splice(at..at, part);
                }
                _ => {
                    let word = self.words[self.random.random_range(0..self.words.len())].clone();
                    bytes.splice(at..at, word);
                }
            }
        }
        bytes
    }

    fn seed(&mut self) -> Vec<u8> {
        self.seeds[self.random.random_range(0..self.seeds.len())].clone()
    }

    fn place(&mut self, bytes: &[u8]) -> usize {
        self.random.random_range(0..=bytes.len())
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}
