//! Moments as people say them, and as programs read them.

pub(crate) use freshet_model::moment::{from_now, last, length, next};
pub(crate) use freshet_notify::rfc3339;
