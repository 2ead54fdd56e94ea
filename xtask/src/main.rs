//! Tasks of this repository that are programs: `cargo run -p xtask -- gen` (or `make gen`) writes what every language
//! package says the same: error classes, enumerations, policies, options and settings, the layout of frames, records,
//! the operations of the server. The schema is `xtask/schema.toml`, `xtask/records.toml` and `xtask/operations`, what
//! becomes of it `xtask/templates`, and where it goes [`target::TARGETS`].
mod binding;
mod error;
mod filters;
mod frame;
mod header;
mod literal;
mod openapi;
mod operation;
mod option;
mod part;
mod record;
mod render;
mod schema;
mod setting;
mod target;
mod tree;
mod vector;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;

/// Tasks of this repository.
#[derive(Debug, Parser)]
#[command(name = "xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Writes the generated code from xtask/schema.toml, xtask/records.toml and xtask/operations.
    Gen {
        /// Writes nothing: fails when a file is not what would be written.
        #[arg(long)]
        check: bool,
    },
    /// Writes the code that uniffi makes of the library ojs-uniffi.
    Bindings {
        /// Of which language.
        language: binding::Language,
        /// The library, as cargo has built it, not stripped.
        library: String,
        /// The folder.
        folder: String,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Gen { check } => generate(check),
        Task::Bindings { language, library, folder } => {
            root().and_then(|root| binding::write(&root, language, &library, &folder)).map(|()| true)
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The repository that this is run in: the folder, or one above it, that has the schema.
fn root() -> Result<PathBuf, Error> {
    let here = std::env::current_dir().map_err(|cause| Error::file(".", cause))?;
    let found = here.ancestors().find(|folder| folder.join(schema::PATH).is_file());
    found.map(PathBuf::from).ok_or(Error::Elsewhere)
}

/// Writes what differs; with `check` only names it. False when something differs that should not.
fn generate(check: bool) -> Result<bool, Error> {
    let root = root()?;
    let schema = schema::Schema::read(&root)?;
    let groups = operation::read(&root, &schema)?;
    let renderer = render::Renderer::new(&root, schema, groups, record::read(&root)?)?;
    let mut stale = 0;
    for target in target::TARGETS {
        let change = target.change(&root, &renderer)?;
        let Some(change) = change else { continue };
        stale += 1;
        if check {
            println!("{}: line {} is not what the schema says", target.path, change.line);
        } else {
            change.write()?;
            println!("{}", target.path);
        }
    }
    if check {
        println!("{} passed, {stale} failed", target::TARGETS.len() - stale);
        if stale > 0 {
            println!(
                "Change xtask/schema.toml, xtask/records.toml, xtask/operations or xtask/templates, not what is generated, and run: make gen"
            );
        }
    }
    Ok(!check || stale == 0)
}
