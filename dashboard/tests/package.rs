//! The package as it is published: its own files are all that a build reads, no Node.js is asked for, and it adds
//! little to a program.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes that the page may add to a program: files, code and constants.
const MOST_ADDED: u64 = 400_000;

/// The standard output of a command that must succeed.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The newest file that some folders have under a name.
fn newest(found: impl Iterator<Item = PathBuf>) -> PathBuf {
    found.filter(|path| path.is_file()).max_by_key(|path| path.metadata().unwrap().modified().unwrap()).unwrap()
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())
}

#[test]
fn the_files_of_the_package_are_all_that_a_build_needs_and_it_starts_no_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let built = Path::new(env!("OUT_DIR"));
    let listed = output(Command::new(env!("CARGO")).current_dir(root).args(["package", "--list", "--allow-dirty", "--offline"]));
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("package-{}", std::process::id()));
    let (copy, out) = (place.join("package"), place.join("out"));
    fs::create_dir_all(&out).unwrap();
    // Cargo itself makes the names that are not there.
    for name in listed.lines().filter(|name| root.join(name).is_file()) {
        let to = copy.join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(root.join(name), to).unwrap();
    }
    let folders = entries(built.parent().unwrap().parent().unwrap());
    let scripts = folders.filter(|folder| folder.file_name().unwrap().to_str().unwrap().starts_with("ojs-dashboard-"));
    let script = newest(scripts.map(|folder| folder.join("build-script-build")));
    output(Command::new(script).env_clear().env("CARGO_MANIFEST_DIR", &copy).env("OUT_DIR", &out).current_dir(&copy));
    let table = |out: &Path| fs::read_to_string(out.join("files.rs")).unwrap().replace(out.to_str().unwrap(), "");
    assert_eq!(table(&out), table(built), "the folder is the sum of all files");
    fs::remove_dir_all(place).unwrap();
}

/// All that the library has is counted, although a linker leaves some of it out.
#[cfg(all(target_os = "linux", not(debug_assertions)))]
#[test]
fn a_program_grows_by_no_more_than_400_kb() {
    let exe = std::env::current_exe().unwrap();
    let libraries = entries(exe.parent().unwrap()).filter(|path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("libojs_dashboard-") && name.ends_with(".rlib")
    });
    let sizes = output(Command::new("size").arg("-t").arg(newest(libraries)));
    let total = sizes.lines().last().unwrap();
    assert!(total.ends_with("(TOTALS)"), "{sizes}");
    let added: u64 = total.split_whitespace().nth(3).unwrap().parse().unwrap();
    println!("the page adds {added} bytes at most");
    assert!(added > ojs_dashboard::all_bytes() as u64, "the files are in it: {sizes}");
    assert!(added <= MOST_ADDED, "{added} bytes");
}
