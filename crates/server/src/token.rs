//! API tokens: their scopes and their comparison.

use std::fmt;
use std::str::FromStr;

use freshet_store::Token;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use utoipa::ToSchema;

/// Prefix of every token, which tells it from other secrets.
const TOKEN_PREFIX: &str = "freshet_";

/// A permission of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Read everything except tokens.
    Read,
    /// Change sources, settings and destinations.
    Write,
    /// Claim sources and report fetches.
    Claim,
    /// All of these, and manage tokens.
    Admin,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Claim, Self::Admin];

    /// Name of the scope.
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

/// Error of parsing a [`Scope`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not one of read, write, claim and admin")]
pub struct InvalidScope(String);

impl Scopes {
    /// Converts the stored representation.
    #[must_use]
    pub fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Returns the stored representation.
    #[must_use]
    pub fn bits(self) -> u8 {
        self.0
    }

    /// True if the set allows a scope; `admin` allows all of them.
    #[must_use]
    pub fn allows(self, scope: Scope) -> bool {
        self.0 & (scope.bit() | Scope::Admin.bit()) != 0
    }

    /// Returns the scopes of the set.
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

/// A secret token. Only [`reveal`](Self::reveal) shows it.
pub struct TokenSecret(String);

impl fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenSecret(…)")
    }
}

impl TokenSecret {
    /// Generates a token with 256 random bits.
    ///
    /// # Errors
    /// Returns an error if the system has no source of randomness.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        let digits = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        Ok(Self(format!("{TOKEN_PREFIX}{digits}")))
    }

    /// Returns the SHA-256 hash, which is what is stored.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        hash(&self.0)
    }

    /// Returns the text of the token, to be shown once.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Finds the presented token. The time does not depend on which token matches, nor on whether one
/// does.
pub(crate) fn find_token<'a>(tokens: &'a [Token], presented: &str) -> Option<&'a Token> {
    let presented = hash(presented);
    let mut found = None;
    for token in tokens {
        if bool::from(token.hash.ct_eq(&presented)) {
            found = Some(token);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_by_its_hash_and_never_printed() {
        let [one, other] = [TokenSecret::random().unwrap(), TokenSecret::random().unwrap()];
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
        assert_eq!(find_token(&tokens, one.reveal()).map(|it| it.name.as_str()), Some("one"));
        assert_eq!(find_token(&tokens, other.reveal()), None);
        assert_eq!(find_token(&tokens, ""), None);
    }

    #[test]
    fn admin_allows_everything_and_other_scopes_only_themselves() {
        let read: Scopes = [Scope::Read, Scope::Claim].into_iter().collect();
        assert!(read.allows(Scope::Read) && read.allows(Scope::Claim));
        assert!(!read.allows(Scope::Write) && !read.allows(Scope::Admin));
        let admin: Scopes = [Scope::Admin].into_iter().collect();
        assert!(Scope::ALL.into_iter().all(|scope| admin.allows(scope)));
        assert_eq!(read.to_string(), "read,claim");
        assert_eq!("root".parse::<Scope>(), Err(InvalidScope("root".to_owned())));
    }
}
