//! Subscriptions at hubs: what was asked for, where hubs call back, and until when it holds.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Row, params};

use crate::error::StoreError;
use crate::reader::Reader;
use crate::store::Store;

/// What is to become of a subscription. The numbers stand in files: they never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubscriptionIntent {
    /// It is to be, and to stay.
    Subscribe,
    /// The hub is to be told that it is over.
    Unsubscribe,
    /// It is over: whoever calls back is told so for a while.
    Ended,
}

impl SubscriptionIntent {
    const ALL: [Self; 3] = [Self::Subscribe, Self::Unsubscribe, Self::Ended];
}

impl ToSql for SubscriptionIntent {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(*self as i64))
    }
}

impl FromSql for SubscriptionIntent {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = value.as_i64()?;
        let place = usize::try_from(number).ok();
        let known = place.and_then(|place| Self::ALL.get(place).copied());
        known.ok_or(FromSqlError::OutOfRange(number))
    }
}

/// A subscription at a hub. It shows no secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Where the hub calls back, behind `base`: nobody can guess it, and it is its own.
    pub callback: String,
    /// What the hub signs with.
    pub secret: String,
    /// Where the hub reaches the service.
    pub base: String,
    /// The feed that names the hub: the number of its herald.
    pub feed: u32,
    /// Who is said to speak when the hub does: the number of a herald of its own.
    pub signal_source: u32,
    /// What is subscribed to, letter by letter as the feed names it.
    pub topic: String,
    /// The hubs that the feed names, the first one first.
    pub hubs: Vec<String>,
    /// Which of them it is at.
    pub hub: u32,
    /// What is to become of it.
    pub intent: SubscriptionIntent,
    /// When the hub was last asked.
    pub requested_at: Option<i64>,
    /// When the hub last made sure that it was us who asked.
    pub verified_at: Option<i64>,
    /// Until when it holds, if it does.
    pub expires_at: Option<i64>,
    /// When the next thing is to be done.
    pub next_action_at: i64,
    /// How often the hub was asked in vain since it last made sure.
    pub failures: u32,
    /// Why, the last time; empty if there is nothing to say.
    pub note: String,
    /// What the hub has sent.
    pub pushes: u64,
    /// Of what came, the part that was not signed as it should be.
    pub rejected_pushes: u64,
    /// When it last sent something.
    pub last_push_at: Option<i64>,
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            topic,
            hubs,
            hub,
            intent: aim,
            expires_at: until,
            next_action_at: next,
            failures,
            note,
            ..
        } = self;
        write!(
            f,
            "Subscription({topic} at {hubs:?}[{hub}], {aim:?}, until {until:?}, next {next}, \
             failed {failures}: {note})"
        )
    }
}

const COLUMNS: &str =
    "callback, secret, base, feed, herald, topic, hubs, hub, aim, asked, verified, until,
    next, failures, note, pushes, ignored, pushed";

fn read(row: &Row<'_>) -> rusqlite::Result<Subscription> {
    let hubs: String = row.get(6)?;
    let count = |at| row.get::<_, i64>(at).map(|it| it as u64);
    Ok(Subscription {
        callback: row.get(0)?,
        secret: row.get(1)?,
        base: row.get(2)?,
        feed: row.get(3)?,
        signal_source: row.get(4)?,
        topic: row.get(5)?,
        hubs: hubs.lines().map(str::to_owned).collect(),
        hub: row.get(7)?,
        intent: row.get(8)?,
        requested_at: row.get(9)?,
        verified_at: row.get(10)?,
        expires_at: row.get(11)?,
        next_action_at: row.get(12)?,
        failures: row.get(13)?,
        note: row.get(14)?,
        pushes: count(15)?,
        rejected_pushes: count(16)?,
        last_push_at: row.get(17)?,
    })
}

impl Reader {
    /// All subscriptions, also those that are over.
    pub fn subscriptions(&self) -> Result<Vec<Subscription>, StoreError> {
        self.rows(&format!("SELECT {COLUMNS} FROM subscription ORDER BY callback"), [], read)
    }
}

impl Store {
    /// Keeps subscriptions, in place of those with the same callbacks, and forgets others, all or none.
    pub fn update_subscriptions(
        &mut self,
        all: &[Subscription],
        gone: &[String],
    ) -> Result<(), StoreError> {
        self.write(|transaction| {
            let mut forget =
                transaction.prepare_cached("DELETE FROM subscription WHERE callback = ?1")?;
            for callback in gone {
                forget.execute([callback])?;
            }
            let mut keep = transaction.prepare_cached(&format!(
                "INSERT OR REPLACE INTO subscription ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,
                ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)"
            ))?;
            for it in all {
                let count = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
                keep.execute(params![
                    it.callback,
                    it.secret,
                    it.base,
                    it.feed,
                    it.signal_source,
                    it.topic,
                    // A URL has no line breaks.
                    it.hubs.join("\n"),
                    it.hub,
                    it.intent,
                    it.requested_at,
                    it.verified_at,
                    it.expires_at,
                    it.next_action_at,
                    it.failures,
                    it.note,
                    count(it.pushes),
                    count(it.rejected_pushes),
                    it.last_push_at,
                ])?;
            }
            Ok(())
        })
    }
}
