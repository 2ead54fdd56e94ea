//! `include/ojs.h` is what cbindgen makes of this crate. `OJS_WRITE=1 cargo test -p ojs-c` writes it.
use std::path::Path;

/// A caller in Rust must see that a wrong pointer is its own fault; for C nothing changes.
#[test]
fn an_export_that_takes_a_pointer_is_unsafe() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut exports = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        for definition in text.split("#[unsafe(no_mangle)]").skip(1) {
            let signature = definition.split_once(" {").unwrap().0;
            let (head, rest) = signature.split_once("extern \"C\" fn ").unwrap();
            let parameters = rest.split_once(" -> ").map_or(rest, |(parameters, _)| parameters);
            let points = ["Option<", "*const", "*mut", "ojs_slice", "_fn"].iter().any(|word| parameters.contains(word));
            assert_eq!(head.trim_end().ends_with("unsafe"), points, "{rest}");
            exports += 1;
        }
    }
    assert!(exports > 60, "{exports} exports found");
}

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
        "user_data",
        "client",
        "layer",
        "enqueue_layer",
        "defaults",
        "worker",
        "versions",
        "durable",
        "job",
        "outcome",
        "doorbell",
        "answer",
        "layers",
        "context",
        "request_context",
        "events",
        "server",
        "fake",
        "transport",
        "outbox",
        "logs",
        "signals",
        "webhook",
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
