//! `include/ojs.h` is what cbindgen makes of this crate. `OJS_WRITE=1 cargo test -p ojs-c` writes it.
use std::path::Path;

#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = root.join("../../include/ojs.h");
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    let mut made = Vec::new();
    // In the order of a reader: cbindgen keeps the order of functions.
    let files = [
        "version",
        "error",
        "slice",
        "client",
        "defaults",
        "worker",
        "job",
        "outcome",
        "doorbell",
        "answer",
        "server",
        "transport",
        "outbox",
        "logs",
        "signals",
    ];
    let there = std::fs::read_dir(root.join("src")).unwrap().count();
    assert_eq!(files.len() + 1, there, "every file but lib.rs is listed here");
    let builder = files.iter().fold(cbindgen::Builder::new().with_config(config), |builder, file| {
        builder.with_src(root.join(format!("src/{file}.rs")))
    });
    builder.generate().unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    if std::env::var_os("OJS_WRITE").is_some() {
        std::fs::write(&header, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&header).unwrap_or_default();
    assert!(
        committed == made,
        "include/ojs.h differs from bindings/c: run `OJS_WRITE=1 cargo test -p ojs-c` and look at the difference"
    );
}
