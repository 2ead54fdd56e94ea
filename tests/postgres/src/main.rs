//! `postgres-fixture [--durable] [--set NAME=VALUE]… -- COMMAND…`: runs a command beside a PostgreSQL server of its own.
//!
//! The command finds the server's URL in `OJS_TEST_POSTGRES`. The server ends with the command, or with this program.
//! If the variable is set already, that server is used and none is started.
use std::process::{Command, ExitCode};

use ojs_postgres_fixture::{Error, Options, SERVER_VARIABLE, Server};

const USAGE: &str = "usage: postgres-fixture [--durable] [--set NAME=VALUE]... -- COMMAND...";

fn main() -> ExitCode {
    let Some((options, program, arguments)) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&options, &program, &arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("postgres-fixture: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Option<(Options, String, Vec<String>)> {
    let (mut durable, mut settings) = (false, Vec::new());
    loop {
        match words.next()?.as_str() {
            "--" => break,
            "--durable" => durable = true,
            "--set" => settings.push(words.next()?),
            _ => return None,
        }
    }
    let mut options = if durable { Options::durable() } else { Options::quick() };
    for setting in settings {
        let (name, value) = setting.split_once('=')?;
        options = options.set(name, value);
    }
    Some((options, words.next()?, words.collect()))
}

/// Runs the command and returns its exit status; 128 and the signal if one ended it, as shells say it.
fn run(options: &Options, program: &str, arguments: &[String]) -> Result<ExitCode, Error> {
    let server = match std::env::var_os(SERVER_VARIABLE) {
        Some(_) => None,
        None => Some(Server::start(options)?),
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
