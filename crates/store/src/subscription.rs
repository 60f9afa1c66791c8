//! WebSub subscriptions: topic, hub, callback URL and lease.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Row, params};

use crate::error::StoreError;
use crate::reader::Reader;
use crate::store::Store;

/// Desired state of a subscription. The numbers are stored and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubscriptionIntent {
    /// Subscribe, and renew the lease.
    Subscribe,
    /// Unsubscribe at the hub.
    Unsubscribe,
    /// Ended: for a while, callbacks are answered accordingly.
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
        let index = usize::try_from(number).ok();
        let known = index.and_then(|index| Self::ALL.get(index).copied());
        known.ok_or(FromSqlError::OutOfRange(number))
    }
}

/// Subscription at a hub. Its `Debug` output contains no secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Subscription {
    /// Path of the callback URL after `callback_base`: unguessable and unique.
    pub callback: String,
    /// Secret that the hub signs with.
    pub secret: String,
    /// Base URL at which the hub reaches the service.
    pub callback_base: String,
    /// Id of the signal source of the feed that names the hub.
    pub feed: u32,
    /// Id of the signal source that represents the pushes of the hub.
    pub signal_source: u32,
    /// Topic URL, verbatim as in the feed.
    pub topic: String,
    /// Hubs named by the feed, in its order.
    pub hubs: Vec<String>,
    /// Index of the hub in use.
    pub hub_index: u32,
    /// Desired state.
    pub intent: SubscriptionIntent,
    /// Time of the last request to the hub.
    pub requested_at: Option<i64>,
    /// Time at which the hub last verified the intent.
    pub verified_at: Option<i64>,
    /// End of the lease, if there is one.
    pub expires_at: Option<i64>,
    /// Time of the next action.
    pub next_action_at: i64,
    /// Number of failed requests since the last verification.
    pub failures: u32,
    /// Reason of the last failure; empty if there is none.
    pub note: String,
    /// Number of pushes received.
    pub pushes: u64,
    /// Number of pushes rejected for a wrong signature.
    pub rejected_pushes: u64,
    /// Time of the last push.
    pub last_push_at: Option<i64>,
}

impl std::fmt::Debug for Subscription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            topic,
            hubs,
            hub_index: hub,
            intent,
            expires_at,
            next_action_at,
            failures,
            note,
            ..
        } = self;
        write!(
            f,
            "Subscription({topic} at {hubs:?}[{hub}], {intent:?}, until {expires_at:?}, next {next_action_at}, \
             failed {failures}: {note})"
        )
    }
}

const COLUMNS: &str =
    "callback, secret, base, feed, herald, topic, hubs, hub, aim, asked, verified, until,
    next, failures, note, pushes, ignored, pushed";

fn read(row: &Row<'_>) -> rusqlite::Result<Subscription> {
    let hubs: String = row.get(6)?;
    let count = |column| row.get::<_, i64>(column).map(|it| it as u64);
    Ok(Subscription {
        callback: row.get(0)?,
        secret: row.get(1)?,
        callback_base: row.get(2)?,
        feed: row.get(3)?,
        signal_source: row.get(4)?,
        topic: row.get(5)?,
        hubs: hubs.lines().map(str::to_owned).collect(),
        hub_index: row.get(7)?,
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
    /// Returns all subscriptions, including ended ones.
    pub fn subscriptions(&self) -> Result<Vec<Subscription>, StoreError> {
        self.rows(&format!("SELECT {COLUMNS} FROM subscription ORDER BY callback"), [], read)
    }
}

impl Store {
    /// Stores subscriptions, replaces those with the same callbacks, and removes others, all or none.
    pub fn update_subscriptions(
        &mut self,
        updated: &[Subscription],
        removed: &[String],
    ) -> Result<(), StoreError> {
        self.write(|transaction| {
            let mut delete =
                transaction.prepare_cached("DELETE FROM subscription WHERE callback = ?1")?;
            for callback in removed {
                delete.execute([callback])?;
            }
            let mut upsert = transaction.prepare_cached(&format!(
                "INSERT OR REPLACE INTO subscription ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,
                ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)"
            ))?;
            for it in updated {
                let count = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
                upsert.execute(params![
                    it.callback,
                    it.secret,
                    it.callback_base,
                    it.feed,
                    it.signal_source,
                    it.topic,
                    // A URL contains no line breaks.
                    it.hubs.join("\n"),
                    it.hub_index,
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
