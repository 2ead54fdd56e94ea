//! The code that uniffi makes of the library `ojs-uniffi`: Kotlin and Swift. It is made where the packages are built,
//! and in no commit: it names functions by checksums of their declarations, and belongs to one library.
use std::path::Path;

use camino::Utf8PathBuf;
use clap::ValueEnum;
use uniffi_bindgen::bindings::{GenerateOptions, TargetLanguage, generate_with_bindgen_paths};
use uniffi_bindgen::{BindgenPaths, BindgenPathsLayer};

use crate::error::Error;

/// The crate, from the root.
const CRATE: &str = "bindings/uniffi";

/// The languages.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Language {
    /// One file, for JNA.
    Kotlin,
    /// A file, a header and a map of modules.
    Swift,
}

/// Where the crate is: its `uniffi.toml` names packages and modules.
struct Root(Utf8PathBuf);

impl BindgenPathsLayer for Root {
    fn get_crate_root(&self, _: &str) -> Option<Utf8PathBuf> {
        Some(self.0.clone())
    }
}

/// Writes the code of one language into a folder.
pub fn write(root: &Path, language: Language, library: &str, folder: &str) -> Result<(), Error> {
    let mut paths = BindgenPaths::default();
    paths.add_layer(Root(Utf8PathBuf::from(root.join(CRATE).display().to_string())));
    let language = match language {
        Language::Kotlin => TargetLanguage::Kotlin,
        Language::Swift => TargetLanguage::Swift,
    };
    let options = GenerateOptions {
        languages: vec![language],
        source: library.into(),
        out_dir: folder.into(),
        ..GenerateOptions::default()
    };
    generate_with_bindgen_paths(options, paths).map_err(|cause| Error::Bindings(format!("{cause:#}")))
}
