//! What `xtask/schema.toml` may say. Templates get it whole, by the names of the fields.
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::frame::Frame;
use crate::option::{self, Member, Policy, Words};
use crate::setting::{Setting, Variable};
use crate::tree;

/// Where it is, from the root.
pub const PATH: &str = "xtask/schema.toml";
/// The class of all refusals.
const REFUSAL: &str = "Api";

/// The whole schema.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    classes: Vec<Class>,
    /// What a handler reads of its job from the context.
    job_context: Vec<ContextField>,
    cancel_reasons: Vec<Number>,
    worker_states: Vec<Number>,
    outcomes: Vec<Number>,
    job_states: Vec<Word>,
    words: Vec<Words>,
    enqueue_order: EnqueueOrder,
    policies: Vec<Policy>,
    /// Objects in options that are no policies.
    objects: Vec<Policy>,
    options: Vec<Member>,
    setting_words: Vec<SettingWords>,
    pub(crate) settings: Vec<Setting>,
    pub(crate) variables: Vec<Variable>,
    frame: Frame,
    /// The classes of a language as a picture, below the base of all.
    #[serde(skip_deserializing)]
    trees: BTreeMap<Language, Vec<String>>,
}

/// A kind of error.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Class {
    /// In Rust, and in Java, where it is a class in `OJSException`.
    pub(crate) name: String,
    number: u32,
    pub(crate) parent: Option<String>,
    /// The core never makes one.
    #[serde(default)]
    hosts_only: bool,
    /// The machine-readable code of one that a language package makes and gives no other.
    code: Option<String>,
    /// The codes of refusals that become it, in small letters.
    #[serde(default)]
    codes: BTreeSet<String>,
    doc: String,
    /// For the tree of all.
    pub(crate) short: String,
    /// In messages.
    text: String,
    #[serde(default)]
    pub(crate) not_in: BTreeSet<Language>,
    /// By language; what is not given follows from `name`, so that templates find all.
    #[serde(default)]
    pub(crate) names: BTreeMap<Language, String>,
    /// What it inherits from, by language: its parent, or the base of all.
    #[serde(skip_deserializing)]
    bases: BTreeMap<Language, String>,
    /// A class of the language itself that it is as well.
    #[serde(default)]
    also: BTreeMap<Language, String>,
}

/// What a handler reads of its job from the context.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ContextField {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    /// It comes with the frame; the others are read from the job.
    #[serde(default)]
    in_frame: bool,
    #[serde(default)]
    optional: bool,
    doc: String,
}

/// The languages with classes of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Language {
    Python,
    Node,
    Ruby,
    Go,
    Java,
}

impl Language {
    const ALL: [Self; 5] = [Self::Python, Self::Node, Self::Ruby, Self::Go, Self::Java];

    /// The base of all error classes.
    const fn base(self) -> &'static str {
        match self {
            Self::Python | Self::Node => "OJSError",
            Self::Ruby | Self::Go => "Error",
            Self::Java => "OJSException",
        }
    }

    /// What the language calls an error class, by its rule.
    fn class_name(self, name: &str) -> String {
        match self {
            Self::Python | Self::Ruby => format!("{name}Error"),
            Self::Node => format!("OJS{name}Error"),
            Self::Go => format!("Err{name}"),
            Self::Java => name.to_owned(),
        }
    }
}

/// A number with a name.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Number {
    name: String,
    number: u32,
    /// What the protocol calls it, where that is another word.
    #[serde(default)]
    word: String,
    doc: String,
    /// In messages.
    #[serde(default)]
    text: String,
}

/// The name on the wire, in snake case.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Word {
    name: String,
    doc: String,
}

/// The words that a setting may be, for languages that have a type for them.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct SettingWords {
    name: String,
    doc: String,
    values: Vec<Word>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct EnqueueOrder {
    doc: String,
    layers: Vec<String>,
}

impl Schema {
    /// The one of the repository in this folder.
    pub fn read(root: &Path) -> Result<Self, Error> {
        let path = root.join(PATH);
        Self::parse(&std::fs::read_to_string(&path).map_err(|cause| Error::file(&path, cause))?)
    }

    fn parse(text: &str) -> Result<Self, Error> {
        let mut schema: Self = toml::from_str(text)?;
        schema.check()?;
        schema.complete();
        Ok(schema)
    }

    /// The names of the classes that refusals with these codes become, each once; the class of all refusals for a code
    /// that no class has.
    pub(crate) fn classes_of(&self, codes: &[String]) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for code in codes.iter().map(|code| code.to_ascii_lowercase()) {
            let class = self.classes.iter().find(|class| class.codes.contains(&code));
            let name = class.map_or(REFUSAL, |class| &class.name);
            if !found.iter().any(|other| other == name) {
                found.push(name.to_owned());
            }
        }
        found
    }

    /// Each name, number and code once; a parent stands before its children, and is there wherever they are.
    fn check(&self) -> Result<(), Error> {
        let mut parents: BTreeMap<&str, &Class> = BTreeMap::new();
        for class in &self.classes {
            if let Some(parent) = &class.parent {
                let parent = parents.get(parent.as_str());
                let parent = parent.ok_or_else(|| contradiction("the parent of", &class.name, "must stand above it"))?;
                if !parent.not_in.is_subset(&class.not_in) {
                    return Err(contradiction("the parent of", &class.name, "is missing in a language that has the class"));
                }
            }
            parents.insert(&class.name, class);
        }
        let mut codes = BTreeSet::new();
        for class in &self.classes {
            if let Some(code) = class.codes.iter().find(|code| !codes.insert(code.as_str())) {
                return Err(contradiction("the code", code, "belongs to two classes"));
            }
            if class.hosts_only && !class.codes.is_empty() {
                return Err(contradiction("the class", &class.name, "has codes, but the core never makes it"));
            }
        }
        distinct("class", self.classes.iter().map(|class| (class.name.as_str(), class.number)))?;
        for (kind, numbers) in
            [("cancel reason", &self.cancel_reasons), ("worker state", &self.worker_states), ("outcome", &self.outcomes)]
        {
            distinct(kind, numbers.iter().map(|number| (number.name.as_str(), number.number)))?;
        }
        match option::of_unknown_type(&self.words, &self.policies, &self.options) {
            Some(member) => Err(contradiction("the type of", &member.name, "is unknown")),
            None => Ok(()),
        }
    }

    /// What follows from the rest.
    fn complete(&mut self) {
        let mut known: BTreeMap<String, BTreeMap<Language, String>> = BTreeMap::new();
        for class in &mut self.classes {
            for language in Language::ALL {
                class.names.entry(language).or_insert_with(|| language.class_name(&class.name));
            }
            let parent = class.parent.as_ref().and_then(|parent| known.get(parent)).cloned();
            let base = |language: Language| (language, language.base().to_owned());
            class.bases = parent.unwrap_or_else(|| Language::ALL.into_iter().map(base).collect());
            known.insert(class.name.clone(), class.names.clone());
        }
        option::complete(&mut self.options);
        self.policies.iter_mut().chain(&mut self.objects).for_each(|policy| option::complete(&mut policy.fields));
        self.trees = Language::ALL.into_iter().map(|language| (language, tree::drawn(&self.classes, language))).collect();
    }
}

fn contradiction(before: &str, name: &str, after: &str) -> Error {
    Error::Contradiction(format!("{before} {name} {after}"))
}

fn distinct<'a>(kind: &str, items: impl Iterator<Item = (&'a str, u32)>) -> Result<(), Error> {
    let (mut names, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    for (name, number) in items {
        if !names.insert(name) {
            return Err(contradiction(kind, name, "is there twice"));
        }
        if !numbers.insert(number) {
            return Err(contradiction(kind, name, &format!("has a number that another one has: {number}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = "cancel_reasons = []\nworker_states = []\noutcomes = []\njob_states = []\nwords = []\npolicies = []\nobjects = []\njob_context = []\noptions = []\nsetting_words = []\nsettings = []\nvariables = []\nenqueue_order = { doc = '', layers = [] }\n\
         frame = { version = 1, jobs = 'OJSJ', outcomes = 'OJSO', header = [], job = [], outcome = [], flags = [] }\n";

    fn classes(text: &str) -> Result<Schema, Error> {
        Schema::parse(&format!("{REST}{text}"))
    }

    fn class(name: &str, number: u32, more: &str) -> String {
        format!("[[classes]]\nname = '{name}'\nnumber = {number}\ndoc = ''\nshort = ''\ntext = ''\n{more}\n")
    }

    #[test]
    fn names_follow_the_rule_of_the_language_or_are_given() {
        let schema = classes(&class("NotFound", 3, "names = { python = 'JobNotFoundError' }")).unwrap();
        let names = &schema.classes[0].names;
        let name = |language| names[&language].as_str();
        assert_eq!(name(Language::Python), "JobNotFoundError");
        assert_eq!(name(Language::Node), "OJSNotFoundError");
        assert_eq!(name(Language::Go), "ErrNotFound");
    }

    #[test]
    fn a_refusal_becomes_the_class_of_its_code() {
        let limited = class("RateLimited", 5, "codes = ['queue_full', 'rate_limited']");
        let schema = classes(&(class("Api", 1, "") + &limited)).unwrap();
        let codes = ["rate_limited", "QUEUE_FULL", "backend_error"].map(str::to_owned);
        assert_eq!(schema.classes_of(&codes), ["RateLimited", "Api"]);
    }

    #[test]
    fn contradictions_are_refused() {
        let both = class("A", 1, "codes = ['x']") + &class("B", 2, "codes = ['x']");
        let code = classes(&both).unwrap_err().to_string();
        assert!(code.contains("the code x belongs to two classes"), "{code}");
        let twice = classes(&(class("A", 1, "") + &class("A", 2, ""))).unwrap_err().to_string();
        assert!(twice.contains("class A is there twice"), "{twice}");
        let number = classes(&(class("A", 1, "") + &class("B", 1, ""))).unwrap_err().to_string();
        assert!(number.contains("has a number that another one has: 1"), "{number}");
        let parent = classes(&(class("A", 1, "parent = 'B'") + &class("B", 2, ""))).unwrap_err().to_string();
        assert!(parent.contains("must stand above"), "{parent}");
        let missing = classes(&(class("A", 1, "not_in = ['go']") + &class("B", 2, "parent = 'A'"))).unwrap_err().to_string();
        assert!(missing.contains("missing in a language"), "{missing}");
        assert!(classes("unknown = 1").is_err());
    }
}
