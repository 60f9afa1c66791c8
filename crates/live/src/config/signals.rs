//! Who may say that sources have changed, as an owner says it.

use serde::Deserialize;
use url::Url;

/// Who may say that sources have changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signals {
    /// Where hubs reach the service, without a slash at the end; `None`: nowhere, and nothing is
    /// subscribed to.
    pub callback: Option<String>,
    /// Whether owners of sites may say so by IndexNow.
    pub indexnow: bool,
}

impl Signals {
    /// The name by which hubs call the service.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        let url = Url::parse(self.callback.as_deref()?).ok()?;
        url.host_str().map(str::to_owned)
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawSignals {
    callback: Option<String>,
    indexnow: Option<bool>,
}

pub(super) fn check(raw: RawSignals) -> Result<Signals, String> {
    let callback = match raw.callback.as_deref() {
        None | Some("") => None,
        Some(text) => {
            let url = super::check::public("signals.callback", text)?;
            Some(url.as_str().trim_end_matches('/').to_owned())
        }
    };
    Ok(Signals { callback, indexnow: raw.indexnow.unwrap_or(false) })
}
