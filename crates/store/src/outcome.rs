//! Outcomes and reasons of fetches, states of sources, and kinds of log entries.

/// Outcome of a fetch, as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoredOutcome {
    /// The first copy.
    First,
    /// The relevant content has changed.
    Changed,
    /// The relevant content is the same.
    Unchanged,
    /// The fetch failed.
    Failed,
    /// The source no longer exists.
    Gone,
    /// The host disallows fetching it.
    Disallowed,
}

/// State of a source after its last fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SourceState {
    /// Never fetched.
    #[default]
    New,
    /// The last fetch returned or confirmed the copy.
    Good,
    /// The last fetch failed.
    Failing,
    /// The source no longer exists.
    Gone,
    /// The host disallows fetching it.
    Disallowed,
}

impl StoredOutcome {
    const ALL: [Self; 6] =
        [Self::First, Self::Changed, Self::Unchanged, Self::Failed, Self::Gone, Self::Disallowed];

    /// Returns the state of a source after this outcome.
    #[must_use]
    pub fn state(self) -> SourceState {
        match self {
            Self::First | Self::Changed | Self::Unchanged => SourceState::Good,
            Self::Failed => SourceState::Failing,
            Self::Gone => SourceState::Gone,
            Self::Disallowed => SourceState::Disallowed,
        }
    }
}

impl SourceState {
    const ALL: [Self; 5] = [Self::New, Self::Good, Self::Failing, Self::Gone, Self::Disallowed];
}

/// Reason of a fetch, as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoredReason {
    /// There was no copy yet.
    New,
    /// Its value reached the price.
    Value,
    /// The value of its pending signals reached the price.
    Pending,
    /// Its maximum interval had passed.
    Overdue,
    /// The previous fetch had failed.
    Retry,
    /// Spare budget: no other source had a higher value.
    Spare,
    /// A user requested it.
    Requested,
}

impl StoredReason {
    const ALL: [Self; 7] = [
        Self::New,
        Self::Value,
        Self::Pending,
        Self::Overdue,
        Self::Retry,
        Self::Spare,
        Self::Requested,
    ];

    /// Returns the name used in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Value => "worth",
            Self::Pending => "pending",
            Self::Overdue => "overdue",
            Self::Retry => "retry",
            Self::Spare => "spare",
            Self::Requested => "asked",
        }
    }
}

/// Kind of an entry in the change log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// The relevant content of a source has changed.
    #[default]
    Changed,
    /// Fetches of a source failed several times in a row.
    Failing,
    /// A failing source can be fetched again.
    Recovered,
    /// A source has not changed for a long time.
    Quiet,
    /// A source no longer exists.
    Gone,
}

impl ChangeKind {
    const ALL: [Self; 5] = [Self::Changed, Self::Failing, Self::Recovered, Self::Quiet, Self::Gone];
}

// The stored numbers are indices into `ALL`: their order never changes.
macro_rules! stored_as_number {
    ($type:ty) => {
        impl rusqlite::types::ToSql for $type {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                Ok(rusqlite::types::ToSqlOutput::from(*self as i64))
            }
        }

        impl rusqlite::types::FromSql for $type {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                let number = value.as_i64()?;
                let index = usize::try_from(number).ok();
                let known = index.and_then(|index| Self::ALL.get(index).copied());
                known.ok_or(rusqlite::types::FromSqlError::OutOfRange(number))
            }
        }
    };
}
pub(crate) use stored_as_number;

stored_as_number!(ChangeKind);
stored_as_number!(StoredOutcome);
stored_as_number!(StoredReason);
stored_as_number!(SourceState);
