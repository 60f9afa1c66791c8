//! API tokens. Only a hash of a token is stored.

use rusqlite::{Row, params};

use crate::error::StoreError;
use crate::reader::Reader;
use crate::store::Store;

/// Stored data of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Name.
    pub name: String,
    /// SHA-256 hash of the token.
    pub hash: [u8; 32],
    /// Scopes as bits, opaque to the store.
    pub scopes: u8,
    /// Time of its creation.
    pub created_at: i64,
    /// Time of its last use, to within a few minutes; `None` if never used.
    pub used_at: Option<i64>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<Token> {
    Ok(Token {
        name: row.get(0)?,
        hash: row.get(1)?,
        scopes: row.get(2)?,
        created_at: row.get(3)?,
        used_at: row.get(4)?,
    })
}

impl Reader {
    /// Returns all tokens, sorted by name.
    pub fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        self.rows("SELECT name, hash, scopes, made, used FROM token ORDER BY name", [], read)
    }
}

impl Store {
    /// Stores a token, and replaces one of the same name.
    pub fn upsert_token(&mut self, token: &Token) -> Result<(), StoreError> {
        self.write(|transaction| {
            let sql = "INSERT INTO token (name, hash, scopes, made, used)
                VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (name) DO UPDATE SET
                hash = excluded.hash, scopes = excluded.scopes, made = excluded.made,
                used = excluded.used";
            let Token { name, hash, scopes, created_at, used_at } = token;
            let row = params![name, hash, scopes, created_at, used_at];
            transaction.prepare_cached(sql)?.execute(row).map(|_| ())
        })
    }

    /// Records the times at which tokens were used, by name.
    pub fn record_token_use(&mut self, uses: &[(String, i64)]) -> Result<(), StoreError> {
        self.write(|transaction| {
            let sql = "UPDATE token SET used = ?2 WHERE name = ?1";
            let mut statement = transaction.prepare_cached(sql)?;
            for (name, at) in uses {
                statement.execute(params![name, at])?;
            }
            Ok(())
        })
    }

    /// Removes a token. Returns whether it existed.
    pub fn remove_token(&mut self, name: &str) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let sql = "DELETE FROM token WHERE name = ?1";
            Ok(transaction.prepare_cached(sql)?.execute([name])? > 0)
        })
    }
}
