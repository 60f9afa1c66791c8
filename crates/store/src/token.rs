//! Who may ask the service. Of a token only a hash is kept.

use rusqlite::{Row, params};

use crate::error::StoreError;
use crate::reader::Reader;
use crate::store::Store;

/// A token, as far as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// What its owner calls it.
    pub name: String,
    /// SHA-256 of what is shown to the service.
    pub hash: [u8; 32],
    /// What it allows, as bits that the store does not look into.
    pub scopes: u8,
    /// When it was made.
    pub created_at: i64,
    /// When it was last used, within some minutes; `None` if never.
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
    /// All tokens, by name.
    pub fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        self.rows("SELECT name, hash, scopes, made, used FROM token ORDER BY name", [], read)
    }
}

impl Store {
    /// Keeps a token, in place of one of the same name.
    pub fn upsert_token(&mut self, token: &Token) -> Result<(), StoreError> {
        self.write(|transaction| {
            let sql = "INSERT INTO token (name, hash, scopes, made, used)
                VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (name) DO UPDATE SET
                hash = excluded.hash, scopes = excluded.scopes, made = excluded.made,
                used = excluded.used";
            let Token { name, hash, scopes, created_at: made, used_at: used } = token;
            let row = params![name, hash, scopes, made, used];
            transaction.prepare_cached(sql)?.execute(row).map(|_| ())
        })
    }

    /// Notes when tokens were used, by name.
    pub fn record_token_use(&mut self, used: &[(String, i64)]) -> Result<(), StoreError> {
        self.write(|transaction| {
            let sql = "UPDATE token SET used = ?2 WHERE name = ?1";
            let mut statement = transaction.prepare_cached(sql)?;
            for (name, at) in used {
                statement.execute(params![name, at])?;
            }
            Ok(())
        })
    }

    /// Forgets a token. Says whether there was one.
    pub fn remove_token(&mut self, name: &str) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let sql = "DELETE FROM token WHERE name = ?1";
            Ok(transaction.prepare_cached(sql)?.execute([name])? > 0)
        })
    }
}
