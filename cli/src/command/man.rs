//! `ojs man`: the manual, made from what `--help` says.
use std::path::PathBuf;

use clap::{Args, Command};

use crate::failure::Failure;
use crate::output::{print, write};

const EXAMPLES: &str = "\
Examples:
  ojs man | man -l -                            read it
  ojs man --directory /usr/local/share/man/man1     one page per command: man ojs-doctor";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Man {
    /// Write a page for each command into this directory, instead of one page to stdout.
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
}

/// Writes the pages.
///
/// # Errors
/// A directory that is none, or cannot be written to.
pub fn run(command: &Man, all: Command) -> Result<(), Failure> {
    let Some(directory) = &command.directory else {
        let mut page = Vec::new();
        let rendered = clap_mangen::Man::new(all).render(&mut page);
        rendered.map_err(|error| Failure::setting(format!("cannot write the page: {error}")))?;
        return write(&page).map(drop);
    };
    let shown = directory.display();
    if !directory.is_dir() {
        return Err(Failure::usage(format!("--directory {shown}: there is no such directory"), format!("mkdir -p {shown}")));
    }
    clap_mangen::generate_to(all, directory).map_err(|error| Failure::setting(format!("--directory {shown}: {error}")))?;
    print(&format!("{shown}/ojs.1 and a page for each command"))
}
