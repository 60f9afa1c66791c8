//! Documents of every kind through the public interface.

#![allow(clippy::unwrap_used)]

mod document_kinds;
mod selection;
mod settings;
mod similarity;
mod stable_values;
mod verdict;

use freshet_detect::{
    DetectSettings, Detector, Document, Extraction, RawDetectSettings, SettingsLayer,
};

fn detector(toml: &str) -> Detector {
    let raw: RawDetectSettings = toml::from_str(toml).unwrap();
    Detector::new(
        DetectSettings::resolve(&[SettingsLayer { name: "test", settings: &raw }]).unwrap(),
    )
}

fn extract(toml: &str, text: &str) -> Extraction {
    detector(toml).extract(&Document::new(text.as_bytes()))
}
