//! Detector of each source: its own settings override those of matching rules, which override the
//! defaults.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::FixedState;
use freshet_detect::{DetectSettings, Detector, RawDetectSettings, SettingsLayer};
use freshet_fetch::UrlPattern;
use url::Url;

/// Most cached detectors; the cache is cleared when it is full.
const MAX_CACHED: usize = 4096;

/// Detection settings for all sources and for URL patterns.
#[derive(Clone)]
pub struct DetectionRules {
    default_settings: RawDetectSettings,
    pattern_settings: Vec<(UrlPattern, RawDetectSettings)>,
}

impl DetectionRules {
    /// Creates the rules and checks what can be checked without a source.
    pub(crate) fn new(
        all: RawDetectSettings,
        rules: Vec<(String, RawDetectSettings)>,
    ) -> Result<Self, String> {
        let mut patterns = Vec::new();
        DetectSettings::resolve(&[SettingsLayer { name: "all sources", settings: &all }])
            .map_err(|error| error.to_string())?;
        for (text, settings) in rules {
            let pattern: UrlPattern =
                text.parse().map_err(|error| format!("rules: `{text}`: {error}"))?;
            DetectSettings::resolve(&[SettingsLayer {
                name: &format!("rules: `{text}`"),
                settings: &settings,
            }])
            .map_err(|error| error.to_string())?;
            patterns.push((pattern, settings));
        }
        Ok(Self { default_settings: all, pattern_settings: patterns })
    }

    /// Builds the detector of a source. `own` holds its own settings as JSON.
    ///
    /// # Errors
    /// Returns a message if its settings are invalid.
    pub fn detector(&self, url: &Url, own: &str) -> Result<Detector, String> {
        let own = parse_settings(own)?;
        let mut layers = vec![SettingsLayer { name: url.as_str(), settings: &own }];
        // Later rules take precedence.
        let rules = self.pattern_settings.iter().rev().filter(|(pattern, _)| pattern.matches(url));
        layers.extend(rules.map(|(_, settings)| SettingsLayer { name: "rules", settings }));
        layers.push(SettingsLayer { name: "all sources", settings: &self.default_settings });
        Ok(Detector::new(DetectSettings::resolve(&layers).map_err(|error| error.to_string())?))
    }

    /// True if the settings do not depend on the URL.
    fn is_uniform(&self) -> bool {
        self.pattern_settings.is_empty()
    }
}

fn parse_settings(own: &str) -> Result<RawDetectSettings, String> {
    if own.is_empty() {
        return Ok(RawDetectSettings::default());
    }
    serde_json::from_str(own).map_err(|error| format!("invalid detection settings: {error}"))
}

/// Cache of detectors by effective settings.
pub(crate) struct DetectorCache {
    rules: DetectionRules,
    detectors: Mutex<HashMap<String, Arc<Detector>, FixedState>>,
}

impl DetectorCache {
    pub(crate) fn new(rules: DetectionRules) -> Self {
        Self { rules, detectors: Mutex::default() }
    }

    /// Returns the detector of a source. Invalid settings of its own are ignored: they were
    /// rejected when they were set.
    pub(crate) fn detector_for(&self, url: &Url, own: &str) -> Arc<Detector> {
        let key = if self.rules.is_uniform() { own.to_owned() } else { format!("{own}\n{url}") };
        let mut cache = self.detectors.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(detector) = cache.get(&key) {
            return Arc::clone(detector);
        }
        let created = self.rules.detector(url, own).or_else(|_| self.rules.detector(url, ""));
        let detector = Arc::new(created.unwrap_or_default());
        if cache.len() >= MAX_CACHED {
            cache.clear();
        }
        cache.insert(key, Arc::clone(&detector));
        detector
    }
}
