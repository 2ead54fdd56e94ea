//! Settings of clients, workers and relays. Of them are made the tables of docs/languages.md and, for clients and
//! workers in Go and Java, the functions and builders with what passes the settings to the core. Each other language
//! writes them in a way of its own. The tests below hold every language to the names, and the core to the defaults.
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// One of them.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    pub of: Owner,
    pub name: String,
    #[serde(rename = "type")]
    pub kind: Kind,
    /// In words of people: `5 s`, `24 h`.
    pub default: Option<String>,
    /// Variables of the environment, which count where nothing is said.
    pub env: Option<String>,
    doc: String,
    /// A sentence more, by language.
    #[serde(default)]
    more: BTreeMap<String, String>,
    /// A length of zero is a setting like any other.
    #[serde(default)]
    zero: bool,
    /// By language, where it is not the name in the language's case.
    #[serde(default)]
    pub names: BTreeMap<String, String>,
    #[serde(default)]
    pub not_in: BTreeSet<String>,
}

/// Whose setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    Client,
    Worker,
    Relay,
}

/// A variable of the environment.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    /// The first one that is set counts.
    pub names: Vec<String>,
    /// What it sets.
    pub setting: String,
    kind: VariableKind,
    doc: String,
}

/// What the text of a variable means, as `Kind` in core/sdk/src/environment.rs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VariableKind {
    Text,
    Names,
    Count,
    Bytes,
    Length,
    Proxy,
    Keys,
}

/// Of what kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Text,
    Texts,
    Integer,
    /// A number of bytes.
    Bytes,
    /// Keys of encryption: in one text, or a list.
    Keys,
    Boolean,
    /// One of several words.
    Word,
    /// A length of time.
    Length,
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use heck::{ToLowerCamelCase, ToPascalCase};

    use super::*;
    use crate::schema::Schema;

    /// Where a language has its settings: a file, the text before them, the text after them, and how one looks (`@` is its name).
    type Place = (&'static str, &'static str, &'static str, &'static str);

    fn place(language: &str, of: Owner) -> Place {
        match (language, of) {
            ("rust", Owner::Client) => ("core/sdk/src/transport/connect.rs", "pub struct ConnectOptions", "}", "pub @:"),
            ("rust", Owner::Worker) => ("core/sdk/src/worker/options.rs", "pub struct WorkerOptions", "}", "pub @:"),
            ("rust", Owner::Relay) => ("core/sdk/src/outbox/relay.rs", "pub struct RelayOptions", "}", "pub @:"),
            ("c", Owner::Client) => ("include/ojs.h", "// How to connect.", "} ojs_client_options", " @;"),
            ("c", Owner::Worker) => ("include/ojs.h", "// Settings of a worker.", "} ojs_worker_options", "@;"),
            ("c", Owner::Relay) => ("include/ojs.h", "// How a relay", "} ojs_relay_options", " @;"),
            ("python", Owner::Client) => {
                ("python/openjobspec/client.py", "def __init__(\n        self,\n        url:", ") ->", " @:")
            }
            ("python", Owner::Worker) => ("python/openjobspec/worker.py", "def __init__(", ") ->", " @:"),
            ("python", Owner::Relay) => ("python/openjobspec/outbox.py", "class Relay:", ") ->", " @:"),
            ("node", Owner::Client) => ("node/index.d.cts", "interface ConnectionOptions", "\n}", " @?:"),
            ("node", Owner::Worker) => ("node/index.d.cts", "interface WorkerOptions", "\n}", " @?:"),
            ("node", Owner::Relay) => ("node/outbox.d.cts", "interface RelayOptions", "\n}", " @?:"),
            ("ruby", Owner::Client) => ("ruby/lib/ojs/client.rb", "def initialize(", ")\n", " @:"),
            ("ruby", Owner::Worker) => ("ruby/lib/ojs/worker.rb", "def initialize(", ")\n", " @:"),
            ("ruby", Owner::Relay) => ("ruby/lib/ojs/relay.rb", "def initialize(", ")\n", " @:"),
            ("go", Owner::Client | Owner::Worker) => ("go/settings.go", "", "", "func @("),
            ("go", Owner::Relay) => ("go/outbox.go", "type OutboxOptions struct", "\n}", "\t@ "),
            ("java", Owner::Client) => ("java/src/main/java/org/openjobspec/OJSClient.java", "class Builder", "", " Builder @("),
            ("java", Owner::Worker) => ("java/src/main/java/org/openjobspec/OJSWorker.java", "class Builder", "", " Builder @("),
            ("java", Owner::Relay) => ("java/src/main/java/org/openjobspec/Relay.java", "class Relay", "", " Relay @("),
            (other, _) => panic!("no such language: {other}"),
        }
    }

    /// Its name, by the language's rule or as it is given.
    fn name_in(setting: &Setting, language: &str) -> String {
        let by_rule = || match (language, setting.of) {
            ("node" | "java", _) => setting.name.to_lower_camel_case(),
            ("go", Owner::Relay) => setting.name.to_pascal_case(),
            ("go", _) => format!("With{}", setting.name.to_pascal_case()),
            ("c", _) if setting.kind == Kind::Length => format!("{}_ms", setting.name),
            _ => setting.name.clone(),
        };
        setting.names.get(language).cloned().unwrap_or_else(by_rule)
    }

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
    }

    #[test]
    fn every_language_has_every_setting_by_its_name() {
        let schema = Schema::read(root()).unwrap();
        let mut missing = Vec::new();
        for language in ["rust", "c", "python", "node", "ruby", "go", "java"] {
            for setting in schema.settings.iter().filter(|setting| !setting.not_in.contains(language)) {
                let (file, begin, end, form) = place(language, setting.of);
                let text = std::fs::read_to_string(root().join(file)).unwrap();
                let after = if begin.is_empty() { Some(("", text.as_str())) } else { text.split_once(begin) };
                let there = after.unwrap_or_else(|| panic!("{file} has no `{begin}`")).1;
                let there = if end.is_empty() { there } else { there.split_once(end).unwrap().0 };
                let wanted = form.replace('@', &name_in(setting, language));
                if !there.contains(&wanted) && !there.contains(wanted.replacen(' ', "*", 1).as_str()) {
                    missing.push(format!("{file}: no `{wanted}` ({:?})", setting.of));
                }
            }
        }
        assert!(
            missing.is_empty(),
            "settings of xtask/schema.toml that a language has not, or by another name:\n{}",
            missing.join("\n")
        );
    }

    /// Where a language asks the core what the environment says. C does not.
    const ASKS: [(&str, &str); 5] = [
        ("python/openjobspec/transport.py", "_native.environment("),
        ("node/lib/transport.cjs", "binding.environment("),
        ("ruby/lib/ojs/transport.rb", "Native.environment("),
        ("go/native.go", "C.ojs_environment("),
        ("java/src/main/java/org/openjobspec/Environment.java", "\"ojs_environment\""),
    ];

    #[test]
    fn every_language_asks_the_core_what_the_environment_says() {
        for (file, call) in ASKS {
            let text = std::fs::read_to_string(root().join(file)).unwrap();
            assert!(text.contains(call), "{file} does not call {call}");
        }
    }

    #[test]
    fn the_variables_are_those_of_the_settings() {
        let schema = Schema::read(root()).unwrap();
        let known: BTreeSet<&str> = schema.variables.iter().flat_map(|variable| &variable.names).map(String::as_str).collect();
        let named = schema.settings.iter().filter_map(|setting| setting.env.as_deref()).flat_map(|env| env.split(", "));
        let named: BTreeSet<&str> = named.collect();
        assert!(named.is_subset(&known), "{:?}", named.difference(&known));
        let rest: Vec<&str> = known.difference(&named).copied().collect();
        assert_eq!(rest, ["OJS_BACKEND_URL", "OJS_SHUTDOWN_GRACE_PERIOD", "OJS_URL"], "a variable that no setting names");
    }

    /// `5 s`, as people write it.
    fn text(length: Duration) -> String {
        let seconds = length.as_secs();
        if seconds >= 3600 { format!("{} h", seconds / 3600) } else { format!("{seconds} s") }
    }

    #[test]
    fn the_defaults_are_those_of_the_core() {
        let schema = Schema::read(root()).unwrap();
        let (client, worker) = (ojs::transport::ConnectOptions::default(), ojs::worker::WorkerOptions::default());
        let relay = ojs::outbox::RelayOptions::default();
        let core = [
            (Owner::Client, "timeout", text(client.timeout)),
            (Owner::Client, "connect_timeout", text(client.connect_timeout)),
            (Owner::Client, "max_sends", client.resend.max_sends.to_string()),
            (Owner::Client, "max_response_bytes", client.max_response_bytes.to_string()),
            (Owner::Client, "proxy", format!("{:?}", client.proxy).to_lowercase()),
            (Owner::Worker, "unknown_types", format!("{:?}", worker.unknown_types).to_lowercase()),
            (Owner::Worker, "only_registered_types", worker.only_registered_types.to_string()),
            (Owner::Worker, "queues", worker.queues.join(", ")),
            (Owner::Worker, "concurrency", worker.concurrency.to_string()),
            (Owner::Worker, "heartbeat_interval", text(worker.heartbeat_interval)),
            (Owner::Worker, "visibility_timeout", text(worker.visibility_timeout.unwrap())),
            (Owner::Worker, "grace_period", text(worker.grace_period)),
            (Owner::Worker, "poll_interval", text(worker.poll_interval_max)),
            (Owner::Worker, "release_on_shutdown", worker.release_on_shutdown.to_string()),
            (Owner::Relay, "table", ojs::outbox::Table::default().name().to_owned()),
            (Owner::Relay, "poll_interval", text(relay.poll_interval)),
            (Owner::Relay, "batch_size", relay.batch_size.to_string()),
            (Owner::Relay, "retention", text(relay.retention)),
            (Owner::Relay, "migrate", "false".to_owned()), // what is not said is not done
        ];
        for (of, name, default) in &core {
            let setting = schema.settings.iter().find(|setting| setting.of == *of && setting.name == *name).unwrap();
            assert_eq!(
                setting.default.as_deref(),
                Some(default.as_str()),
                "the default of `{name}` in xtask/schema.toml, and in the core"
            );
        }
        assert_eq!(
            schema.settings.iter().filter(|setting| setting.default.is_some()).count(),
            core.len(),
            "a default that is not compared"
        );
    }
}
