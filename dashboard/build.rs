//! Packs the files of the page: compressed, under one folder whose name is the sum of all of them.
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

/// The bare imports of the published modules, and the files they mean. Browsers resolve bare names only with an import
/// map, which is an inline script.
const BARE: [(&str, &str); 3] = [
    ("\"preact/hooks\"", "\"./hooks.mjs\""),
    ("\"preact\"", "\"./preact.mjs\""),
    ("\"@preact/signals-core\"", "\"./signals-core.mjs\""),
];
/// The folder's name in the shell.
const FOLDER: &str = "{folder}";

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=web");
    println!("cargo::rerun-if-changed=vendor");
    println!("cargo::rerun-if-changed=build.rs");
    let mut files = Vec::new();
    collect(&root.join("web"), "", &mut files)?;
    collect(&root.join("vendor"), "vendor/", &mut files)?;
    files.sort();
    let mut sum = Sha256::new();
    for (name, bytes) in &files {
        sum.update(name.as_bytes());
        sum.update([0]);
        sum.update(bytes);
    }
    let folder: String = hex(&sum.finalize()).chars().take(16).collect();
    let mut table = format!("const FOLDER: &str = \"{folder}\";\nconst FILES: &[File] = &[\n");
    for (number, (name, bytes)) in files.iter().enumerate() {
        let bytes = match name.as_str() {
            "index.html" => String::from_utf8_lossy(bytes).replace(FOLDER, &folder).into_bytes(),
            _ => bytes.clone(),
        };
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed.write_all(&bytes)?;
        let path = out.join(format!("{number}.gz"));
        fs::write(&path, packed.finish()?)?;
        let tag: String = hex(&Sha256::digest(&bytes)).chars().take(16).collect();
        let _ = writeln!(
            table,
            "    File {{ name: {name:?}, kind: {:?}, tag: \"\\\"{tag}\\\"\", packed: include_bytes!({path:?}) }},",
            kind(name)
        );
    }
    table.push_str("];\n");
    fs::write(out.join("files.rs"), table)
}

/// All files below a folder, with bare imports resolved. Licences are for people, and stay in the repository.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), files)?;
        } else if !name.starts_with("LICENSE") && !name.ends_with(".toml") {
            let mut bytes = fs::read(&path)?;
            if name.ends_with(".mjs") {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let text =
                    BARE.iter().fold(text, |text, (bare, file)| text.replace(&format!("from{bare}"), &format!("from{file}")));
                // The map is not there to be found.
                let text = text.split("//# sourceMappingURL=").next().unwrap_or_default().to_owned();
                bytes = text.into_bytes();
            }
            files.push((format!("{prefix}{name}"), bytes));
        }
    }
    Ok(())
}

/// The media type by the end of the name.
fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
