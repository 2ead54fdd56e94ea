//! `mariadb-fixture COMMAND…`: runs a command beside a MariaDB server of its own.
//!
//! The command finds the server's URL in `OJS_TEST_MYSQL`. The server ends with the command, or with this program.
//! If the variable is set already, that server is used and none is started.
use std::process::{Command, ExitCode};

use ojs_mariadb_fixture::{Error, SERVER_VARIABLE, Server};

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let Some(program) = words.next() else {
        eprintln!("usage: mariadb-fixture COMMAND...");
        return ExitCode::from(2);
    };
    run(&program, words).unwrap_or_else(|error| {
        eprintln!("mariadb-fixture: {error}");
        ExitCode::FAILURE
    })
}

/// Runs the command and returns its exit status; 128 and the signal if one ended it, as shells say it.
fn run(program: &str, arguments: impl Iterator<Item = String>) -> Result<ExitCode, Error> {
    let server = match std::env::var_os(SERVER_VARIABLE) {
        Some(_) => None,
        None => Some(Server::start(&[])?),
    };
    let mut command = Command::new(program);
    command.args(arguments);
    if let Some(server) = &server {
        command.env(SERVER_VARIABLE, server.url());
    }
    let status = command.status().map_err(|source| Error::System { what: "cannot start the command", source })?;
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    let code = status.code().or(signal.map(|signal| 128 + signal)).and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
