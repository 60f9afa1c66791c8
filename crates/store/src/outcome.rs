//! How fetches end, what that makes of a source, and what is told of it.

/// How a fetch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoredOutcome {
    /// The first copy.
    First,
    /// What counts has changed.
    Changed,
    /// What counts is the same.
    Unchanged,
    /// No copy could be made.
    Failed,
    /// The source does not exist any more.
    Gone,
    /// The host does not want it fetched.
    Disallowed,
}

/// What the last fetch makes of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SourceState {
    /// Never fetched.
    #[default]
    New,
    /// The last fetch brought a copy, or confirmed it.
    Good,
    /// The last fetch failed.
    Failing,
    /// The source does not exist any more.
    Gone,
    /// The host does not want it fetched.
    Disallowed,
}

impl StoredOutcome {
    const ALL: [Self; 6] =
        [Self::First, Self::Changed, Self::Unchanged, Self::Failed, Self::Gone, Self::Disallowed];

    /// What it makes of a source.
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

/// Why a source was fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoredReason {
    /// There was no copy of it.
    New,
    /// It was worth the price.
    Value,
    /// Its changes that were announced were.
    Pending,
    /// It had not been fetched for as long as its owner allows.
    Overdue,
    /// The fetch before had failed.
    Retry,
    /// Nothing that was worth more was left to spend the budget on.
    Spare,
    /// Somebody asked for it.
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

    /// In a word.
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

/// What an entry of the log tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// What counts of a source has changed.
    #[default]
    Changed,
    /// A source could not be fetched so many times in a row.
    Failing,
    /// A source that was failing can be fetched again.
    Recovered,
    /// A source has not changed for so long.
    Quiet,
    /// A source is no more.
    Gone,
}

impl ChangeKind {
    const ALL: [Self; 5] = [Self::Changed, Self::Failing, Self::Recovered, Self::Quiet, Self::Gone];
}

// The numbers are the places in `ALL`, and stand in files: they never change.
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
                let place = usize::try_from(number).ok();
                let known = place.and_then(|place| Self::ALL.get(place).copied());
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
