//! Numbers as people read them.

pub(crate) use freshet_model::number::{
    count, days, days_like, fixed, plural, share, significant, unit_of_days,
};
