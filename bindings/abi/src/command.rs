//! The command line of the programs that the packages of Python, Node.js and Ruby bring along: `server` and `worker`.
//! Options, variables of the environment, defaults and messages are the same in all of them.
use std::collections::BTreeMap;

use ojs::environment;
use ojs_model::spelling::unknown;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::error::AbiError;

/// How a program was called.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Invocation {
    /// What a user types to run it, such as `npx ojs`.
    program: String,
    /// How its help names the worker to run, such as `FILE[:NAME]`.
    target: String,
    /// Which worker that is.
    about_target: String,
    arguments: Vec<String>,
}

/// The text of an option, and what it means.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// The text itself; the word stands for it in the help.
    Text(&'static str),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Names with commas between them.
    Names,
    /// A whole number of at least 1.
    Count,
    /// The level of a log, or a filter as `ojs server` takes it: `ojs_engine=debug,info` is `info` here.
    Level,
    /// True when it is there.
    Switch,
}

struct Flag {
    name: &'static str,
    kind: Kind,
    /// Which commands take it.
    commands: &'static [&'static str],
    variable: Option<&'static str>,
    default: Option<&'static str>,
    help: &'static str,
}

const SERVER: &[&str] = &["server"];
const WORKER: &[&str] = &["worker"];
const COMMANDS: &[&str] = &["server", "worker"];
const LEVELS: &[&str] = &["error", "warn", "info", "debug", "trace"];

#[rustfmt::skip]
const FLAGS: &[Flag] = &[
    Flag { name: "--listen", kind: Kind::Text("ADDRESS"), commands: SERVER, variable: Some("OJS_LISTEN"),
           default: Some("127.0.0.1:8080"), help: "address and port; port 0 takes any free one" },
    Flag { name: "--store", kind: Kind::Text("URL"), commands: SERVER, variable: Some("OJS_STORE"),
           default: Some("sqlite:ojs.db"), help: "sqlite:PATH, postgres://…, or memory: (gone when the server stops)" },
    Flag { name: "--keys", kind: Kind::Text("FILE"), commands: SERVER, variable: Some("OJS_KEYS"), default: None,
           help: "every request needs a key of this file (ojs keys add)" },
    Flag { name: "--insecure", kind: Kind::Switch, commands: SERVER, variable: Some("OJS_INSECURE"),
           default: Some("false"), help: "listen on other addresses than loopback without keys" },
    Flag { name: "--test-mode", kind: Kind::Switch, commands: SERVER, variable: None, default: Some("false"),
           help: "any client that can connect can delete all jobs" },
    Flag { name: "--url", kind: Kind::Text("URL"), commands: WORKER, variable: None, default: None,
           help: "overrides the worker's own" },
    Flag { name: "--queues", kind: Kind::Names, commands: WORKER, variable: None, default: None,
           help: "overrides the worker's own" },
    Flag { name: "--concurrency", kind: Kind::Count, commands: WORKER, variable: None, default: None,
           help: "overrides the worker's own" },
    Flag { name: "--log-level", kind: Kind::Level, commands: COMMANDS, variable: Some("OJS_LOG_LEVEL"), default: Some("info"),
           help: "error, warn, info, debug or trace" },
    Flag { name: "--log-format", kind: Kind::Word(&["text", "json"]), commands: COMMANDS, variable: Some("OJS_LOG_FORMAT"),
           default: Some("text"), help: "text or json; log lines go to stderr" },
];

/// Reads the command line of this process, and its environment. `invocation` is a JSON object of `program`, `target`,
/// `about_target` and `arguments`. The answer is one of:
///
/// - `{"exit": STATUS, "out": TEXT, "err": TEXT}` for `--help`, `--version` and mistakes;
/// - `{"command": "server", "settings", "log_level", "log_format"}` with the settings `listen`, `store`, `keys`,
///   `insecure` and `test_mode`;
/// - `{"command": "worker", "target", "settings", "log_level", "log_format"}` with those of the settings `url`,
///   `queues` and `concurrency` that the command line names.
///
/// # Errors
/// Text of another form.
pub fn read(invocation: &str) -> Result<String, AbiError> {
    let invocation = serde_json::from_str(invocation).map_err(|e| AbiError::invalid(format!("a command line: {e}")))?;
    Ok(answer(&invocation, |name| std::env::var(name).ok()).to_string())
}

fn answer(invocation: &Invocation, variable: impl Fn(&str) -> Option<String>) -> Value {
    let has = |names: [&str; 2]| invocation.arguments.iter().any(|argument| names.contains(&argument.as_str()));
    if has(["--help", "-h"]) {
        return ended(0, &help(invocation), "");
    }
    if has(["--version", "-V"]) {
        return ended(0, &format!("{} {}\n", invocation.program, env!("CARGO_PKG_VERSION")), "");
    }
    called(invocation, variable).unwrap_or_else(|mistake| ended(2, "", &format!("ojs: {mistake}\n")))
}

fn ended(status: i32, out: &str, err: &str) -> Value {
    json!({"exit": status, "out": out, "err": err})
}

/// The command with its settings, or the mistake.
fn called(invocation: &Invocation, variable: impl Fn(&str) -> Option<String>) -> Result<Value, String> {
    let (words, mut given) = split(&invocation.arguments)?;
    let (command, rest) = words.split_first().ok_or("a command is needed: server or worker")?;
    let command = *COMMANDS.iter().find(|known| *known == command).ok_or_else(|| unknown("command", command, "", COMMANDS))?;
    let mut settings = Map::new();
    for flag in FLAGS.iter().filter(|flag| flag.commands.contains(&command)) {
        let said = given.remove(flag.name).map(|text| (flag.name, text.to_owned()));
        let set = || {
            let name = flag.variable?;
            Some((name, variable(name).filter(|text| !text.trim().is_empty())?))
        };
        let found = said.or_else(set).or_else(|| Some((flag.name, flag.default?.to_owned())));
        if let Some((place, text)) = found {
            settings.insert(
                flag.setting(),
                flag.kind.value(&text).map_err(|wanted| format!("{place} must be {wanted}, got '{text}'"))?,
            );
        }
    }
    if let Some(name) = given.keys().next() {
        let names: Vec<_> = FLAGS.iter().filter(|flag| flag.commands.contains(&command)).map(|flag| flag.name).collect();
        return Err(unknown("option", name, &format!(" of {command}"), &names));
    }
    let target = match (command, rest) {
        ("server", []) => None,
        ("worker", [target]) => Some(*target),
        ("worker", _) => return Err(format!("worker takes one {}", invocation.target)),
        (_, words) => return Err(format!("{command} takes no '{}'", words.join(" "))),
    };
    let (level, format) = (settings.remove("log_level"), settings.remove("log_format"));
    Ok(json!({"command": command, "target": target, "settings": settings, "log_level": level, "log_format": format}))
}

/// The words of a command line, and its options with their texts.
fn split(arguments: &[String]) -> Result<(Vec<&str>, BTreeMap<&'static str, &str>), String> {
    let (mut words, mut given) = (Vec::new(), BTreeMap::new());
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(argument) = rest.next() {
        if !argument.starts_with('-') {
            words.push(argument);
            continue;
        }
        let (name, text) = argument.split_once('=').map_or((argument, None), |(name, text)| (name, Some(text)));
        let names: Vec<_> = FLAGS.iter().map(|flag| flag.name).collect();
        let flag = FLAGS.iter().find(|flag| flag.name == name).ok_or_else(|| unknown("option", name, "", &names))?;
        let text = match (flag.kind, text) {
            (Kind::Switch, None) => "true",
            (Kind::Switch, Some(_)) => return Err(format!("{name} takes no value")),
            (_, text) => text.or_else(|| rest.next()).ok_or_else(|| format!("{name} needs a value"))?,
        };
        given.insert(flag.name, text);
    }
    Ok((words, given))
}

impl Flag {
    /// Its name among the settings.
    fn setting(&self) -> String {
        self.name.trim_start_matches('-').replace('-', "_")
    }

    fn usage(&self) -> String {
        match self.kind {
            Kind::Text(word) => format!("{} {word}", self.name),
            Kind::Word(_) => format!("{} FORMAT", self.name),
            Kind::Names => format!("{} A,B", self.name),
            Kind::Count => format!("{} N", self.name),
            Kind::Level => format!("{} LEVEL", self.name),
            Kind::Switch => self.name.to_owned(),
        }
    }
}

impl Kind {
    /// The value, or what is wanted in place of this text.
    fn value(self, text: &str) -> Result<Value, String> {
        match self {
            Self::Text(_) => Ok(json!(text)),
            Self::Word(words) => words.contains(&text).then(|| json!(text)).ok_or_else(|| words.join(" or ")),
            Self::Names => environment::Kind::Names.value(text).map_err(str::to_owned),
            Self::Count => environment::Kind::Count.value(text).map_err(str::to_owned),
            Self::Level => {
                let level = text.rsplit(',').map(str::trim).find(|part| !part.contains('=')).unwrap_or("info").to_lowercase();
                LEVELS.contains(&level.as_str()).then(|| json!(level)).ok_or_else(|| format!("one of {}", LEVELS.join(", ")))
            }
            Self::Switch => match text.to_lowercase().as_str() {
                "1" | "true" | "yes" | "on" | "y" | "t" => Ok(json!(true)),
                "0" | "false" | "no" | "off" | "n" | "f" => Ok(json!(false)),
                _ => Err("true or false".to_owned()),
            },
        }
    }
}

fn help(invocation: &Invocation) -> String {
    let Invocation { program, target, about_target, .. } = invocation;
    let lines = |commands: &[&str]| -> String {
        let flags = FLAGS.iter().filter(|flag| flag.commands == commands);
        let notes = |flag: &Flag| -> String {
            let default = flag.default.filter(|_| !matches!(flag.kind, Kind::Switch));
            let notes: Vec<_> = [flag.variable, default].into_iter().flatten().collect();
            if notes.is_empty() { String::new() } else { format!(" ({})", notes.join(", ")) }
        };
        flags.map(|flag| format!("  {:<22}{}{}\n", flag.usage(), flag.help, notes(flag))).collect()
    };
    let (server, worker, both) = (lines(SERVER), lines(WORKER), lines(COMMANDS));
    format!(
        "usage: {program} server [options]\n       {program} worker {target} [options]\n\n\
         server: a job server in this process\n{server}\n\
         worker: {about_target}\n{worker}\n\
         both:\n{both}  {:<22}this text\n  {:<22}the version of the package\n",
        "-h, --help", "-V, --version"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: &str, variables: &[(&str, &str)]) -> Value {
        let invocation = Invocation {
            program: "npx ojs".to_owned(),
            target: "FILE[:NAME]".to_owned(),
            about_target: "the worker that a file exports".to_owned(),
            arguments: line.split_whitespace().map(str::to_owned).collect(),
        };
        answer(&invocation, |name| variables.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned()))
    }

    #[test]
    fn a_server_has_its_defaults_then_variables_then_options() {
        let settings = |line, variables| run(line, variables)["settings"].take();
        let defaults = json!({"listen": "127.0.0.1:8080", "store": "sqlite:ojs.db", "insecure": false, "test_mode": false});
        assert_eq!(settings("server", &[]), defaults);
        let variables = [("OJS_LISTEN", ""), ("OJS_STORE", "memory:"), ("OJS_KEYS", "a.json"), ("OJS_INSECURE", "Yes")];
        let expected =
            json!({"listen": "127.0.0.1:8080", "store": "memory:", "keys": "a.json", "insecure": true, "test_mode": false});
        assert_eq!(settings("server", &variables), expected);
        let expected =
            json!({"listen": "[::1]:0", "store": "sqlite:b.db", "keys": "b.json", "insecure": false, "test_mode": true});
        let variables = [("OJS_STORE", "memory:"), ("OJS_INSECURE", "off")];
        assert_eq!(settings("--test-mode server --listen=[::1]:0 --store sqlite:b.db --keys b.json", &variables), expected);
    }

    #[test]
    fn a_worker_has_what_was_said() {
        let answer = run("worker mail.mjs:other --queues a,,b --concurrency 20 --url http://x --log-format json", &[]);
        let settings = json!({"url": "http://x", "queues": ["a", "b"], "concurrency": 20});
        assert_eq!((&answer["target"], &answer["settings"]), (&json!("mail.mjs:other"), &settings));
        assert_eq!((&answer["log_level"], &answer["log_format"]), (&json!("info"), &json!("json")));
        assert_eq!(run("worker a", &[])["settings"], json!({}));
    }

    #[test]
    fn a_level_may_be_a_filter() {
        for (text, level) in [("debug", "debug"), ("ojs_engine=debug,WARN", "warn"), ("ojs_engine=debug", "info"), ("", "info")] {
            assert_eq!(run("server", &[("OJS_LOG_LEVEL", text)])["log_level"], level);
        }
    }

    #[test]
    fn mistakes_are_named_and_end_with_2() {
        for (line, message) in [
            ("", "a command is needed: server or worker"),
            ("serve", "unknown command 'serve'; did you mean 'server'? There are server, worker"),
            ("server --liste 1", "unknown option '--liste'; did you mean '--listen'?"),
            ("server --url x", "unknown option '--url' of server; "),
            ("worker x --store y", "unknown option '--store' of worker; "),
            ("server --store", "--store needs a value"),
            ("server --insecure=1", "--insecure takes no value"),
            ("server now", "server takes no 'now'"),
            ("worker", "worker takes one FILE[:NAME]"),
            ("worker a b", "worker takes one FILE[:NAME]"),
            ("worker a --concurrency 0", "--concurrency must be a whole number of at least 1, got '0'"),
            ("worker a --queues ,", "--queues must be names with commas between them, got ','"),
            ("server --log-level loud", "--log-level must be one of error, warn, info, debug, trace, got 'loud'"),
        ] {
            let answer = run(line, &[]);
            let error = answer["err"].as_str().unwrap_or_default();
            assert!(error.starts_with(&format!("ojs: {message}")) && error.ends_with('\n'), "{line}: {answer}");
            assert_eq!(answer["exit"], 2, "{line}");
        }
        let error = |name, text| run("server", &[(name, text)])["err"].as_str().unwrap_or_default().to_owned();
        assert_eq!(error("OJS_INSECURE", "maybe"), "ojs: OJS_INSECURE must be true or false, got 'maybe'\n");
        assert_eq!(error("OJS_LOG_FORMAT", "xml"), "ojs: OJS_LOG_FORMAT must be text or json, got 'xml'\n");
    }

    #[test]
    fn the_help_names_every_option_and_its_variable() {
        let help = run("server --help", &[])["out"].as_str().unwrap_or_default().to_owned();
        for flag in FLAGS {
            assert!(help.contains(flag.name) && help.contains(flag.variable.unwrap_or_default()), "{help}");
        }
        assert!(help.contains("npx ojs worker FILE[:NAME]") && help.lines().all(|line| line.chars().count() < 120), "{help}");
        assert!(run("--version", &[])["out"].as_str().is_some_and(|out| out.starts_with("npx ojs 0.")));
        assert!(read(r#"{"program":"ojs"}"#).is_err());
    }
}
