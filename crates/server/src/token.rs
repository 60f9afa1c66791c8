//! Who may ask: tokens, what they allow, and how they are compared.

use std::fmt;
use std::str::FromStr;

use freshet_store::Token;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use utoipa::ToSchema;

/// What a token begins with, so that it can be told from other secrets.
const MARK: &str = "freshet_";

/// What one may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// See everything but tokens.
    Read,
    /// Change sources, settings and destinations.
    Write,
    /// Claim sources, and report what came of them.
    Claim,
    /// All of that, and tokens.
    Admin,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Claim, Self::Admin];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Claim => "claim",
            Self::Admin => "admin",
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A set of scopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scopes(u8);

/// Not a scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not one of read, write, claim and admin")]
pub struct InvalidScope(String);

impl Scopes {
    /// As the store keeps it.
    #[must_use]
    pub fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// For the store.
    #[must_use]
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Whether it allows something.
    #[must_use]
    pub fn allow(self, scope: Scope) -> bool {
        self.0 & (scope.bit() | Scope::Admin.bit()) != 0
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.0 & scope.bit() != 0)
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<T: IntoIterator<Item = Scope>>(scopes: T) -> Self {
        Self(scopes.into_iter().fold(0, |bits, scope| bits | scope.bit()))
    }
}

impl FromStr for Scope {
    type Err = InvalidScope;

    fn from_str(text: &str) -> Result<Self, InvalidScope> {
        let found = Self::ALL.into_iter().find(|scope| scope.name() == text);
        found.ok_or_else(|| InvalidScope(text.to_owned()))
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(Scope::name).collect();
        f.write_str(&names.join(","))
    }
}

/// A token as its owner has it. Nothing shows it but [`reveal`](Self::reveal).
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl Secret {
    /// A new one: 256 bits that nobody can guess.
    ///
    /// # Errors
    /// If the system has no randomness.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        let digits = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        Ok(Self(format!("{MARK}{digits}")))
    }

    /// What is kept of it.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        hash(&self.0)
    }

    /// The text itself, to be shown once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Which token somebody shows. It takes the same time whichever it is, and if it is none.
pub(crate) fn find<'a>(tokens: &'a [Token], shown: &str) -> Option<&'a Token> {
    let shown = hash(shown);
    let mut found = None;
    for token in tokens {
        if bool::from(token.hash.ct_eq(&shown)) {
            found = Some(token);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_by_its_hash_and_shown_nowhere_else() {
        let [one, other] = [Secret::random().unwrap(), Secret::random().unwrap()];
        assert_ne!(one.reveal(), other.reveal());
        assert!(!format!("{one:?}").contains(one.reveal()));
        let token = Token {
            name: "one".to_owned(),
            hash: one.hash(),
            scopes: 1,
            created_at: 0,
            used_at: None,
        };
        let tokens = [token];
        assert_eq!(find(&tokens, one.reveal()).map(|it| it.name.as_str()), Some("one"));
        assert_eq!(find(&tokens, other.reveal()), None);
        assert_eq!(find(&tokens, ""), None);
    }

    #[test]
    fn admin_allows_all_and_others_only_themselves() {
        let read: Scopes = [Scope::Read, Scope::Claim].into_iter().collect();
        assert!(read.allow(Scope::Read) && read.allow(Scope::Claim));
        assert!(!read.allow(Scope::Write) && !read.allow(Scope::Admin));
        let admin: Scopes = [Scope::Admin].into_iter().collect();
        assert!(Scope::ALL.into_iter().all(|scope| admin.allow(scope)));
        assert_eq!(read.to_string(), "read,claim");
        assert_eq!("root".parse::<Scope>(), Err(InvalidScope("root".to_owned())));
    }
}
