//! `postgres-fixture [--durable] [--set NAME=VALUE]… -- COMMAND…`: runs a command beside a PostgreSQL server of its own.
//!
//! The command finds the server's URL in `OJS_TEST_POSTGRES`. The server ends with the command, or with this program.
//! If the variable is set already, that server is used and none is started.
//!
//! `postgres-fixture --database -- COMMAND…` becomes the command, with a new database on the server of `OJS_TEST_POSTGRES`:
//! `{database}` in the arguments is replaced by its URL. The database goes with the server.
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use ojs_postgres_fixture::{Database, Error, Options, SERVER_VARIABLE, Server};

const USAGE: &str = "usage: postgres-fixture [--durable] [--set NAME=VALUE]... -- COMMAND...
       postgres-fixture --database -- COMMAND...    ({database} is replaced; needs OJS_TEST_POSTGRES)";

struct Request {
    options: Options,
    database: bool,
    program: String,
    arguments: Vec<String>,
}

fn main() -> ExitCode {
    let Some(request) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match if request.database { become_command(&request) } else { run(&request) } {
        Ok(code) => code,
        Err(error) => {
            eprintln!("postgres-fixture: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Option<Request> {
    let (mut durable, mut database, mut settings) = (false, false, Vec::new());
    loop {
        match words.next()?.as_str() {
            "--" => break,
            "--durable" => durable = true,
            "--database" => database = true,
            "--set" => settings.push(words.next()?),
            _ => return None,
        }
    }
    let mut options = if durable { Options::durable() } else { Options::quick() };
    for setting in settings {
        let (name, value) = setting.split_once('=')?;
        options = options.set(name, value);
    }
    Some(Request { options, database, program: words.next()?, arguments: words.collect() })
}

/// Replaces this process by the command, so that signals reach it. Returns only when that fails.
fn become_command(request: &Request) -> Result<ExitCode, Error> {
    let server = std::env::var(SERVER_VARIABLE).map_err(|_| Error::Sql(format!("{SERVER_VARIABLE} names no server")))?;
    let database = Database::create(&server)?.keep();
    let source = Command::new(&request.program)
        .args(request.arguments.iter().map(|argument| argument.replace("{database}", &database)))
        .exec();
    Err(Error::System { what: "cannot start the command", source })
}

/// Runs the command and returns its exit status; 128 and the signal if one ended it, as shells say it.
fn run(request: &Request) -> Result<ExitCode, Error> {
    let server = match std::env::var_os(SERVER_VARIABLE) {
        Some(_) => None,
        None => Some(Server::start(&request.options)?),
    };
    let mut command = Command::new(&request.program);
    command.args(&request.arguments);
    if let Some(server) = &server {
        command.env(SERVER_VARIABLE, server.url());
    }
    let status = command.status().map_err(|source| Error::System { what: "cannot start the command", source })?;
    let signal = std::os::unix::process::ExitStatusExt::signal(&status);
    let code = status.code().or(signal.map(|signal| 128 + signal)).and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}
