//! Rules of an endpoint that change its weight for some jobs: by type, by queue, by the hints in `meta.serverless`.
use ojs_model::OjsError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::pattern::fits;

/// Most rules of an endpoint.
const MAX_RULES: usize = 50;
/// Most bytes of the rules as JSON.
const MAX_BYTES: usize = 16_384;
/// Largest weight.
pub(crate) const MAX_WEIGHT: i64 = 1_000;

/// The rules of an endpoint; the first one that fits a job counts.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Routing {
    /// In the order in which they are compared.
    #[serde(default)]
    rules: Vec<Rule>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// Which jobs it is for.
    #[serde(default, rename = "match")]
    wanted: Wanted,
    /// The weight of the endpoint for such jobs; with 0 it takes none of them.
    weight: i64,
}

/// Which jobs a rule is for: all members must fit.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// A pattern of the job's type.
    #[serde(skip_serializing_if = "Option::is_none")]
    job_type: Option<String>,
    /// A pattern of the job's queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
    /// Hints of the job: a string is a pattern, other values must be equal.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    serverless: Map<String, Value>,
}

/// What rules see of a job.
#[derive(Debug)]
pub(crate) struct Job<'a> {
    /// Its type.
    pub(crate) job_type: &'a str,
    /// Its queue.
    pub(crate) queue: &'a str,
    /// The members of its envelope, without braces.
    pub(crate) text: &'a str,
}

impl Job<'_> {
    /// Its `meta.serverless`.
    fn hints(&self) -> Value {
        if !self.text.contains("\"serverless\"") {
            return Value::Null;
        }
        let envelope: Value = serde_json::from_str(&ojs_model::json::object(self.text)).unwrap_or_default();
        envelope.pointer("/meta/serverless").cloned().unwrap_or_default()
    }
}

impl Routing {
    /// Reads what a client sends.
    ///
    /// # Errors
    /// 400 that names `routing`.
    pub(crate) fn parse(value: &Value) -> Result<Self, OjsError> {
        let wrong = |message: String| OjsError::invalid_field("routing", message);
        if value.is_null() {
            return Ok(Self::default());
        }
        if !value.is_object() {
            return Err(wrong("routing must be an object with rules.".to_owned()));
        }
        let routing = Self::deserialize(value).map_err(|error| {
            wrong(format!("routing cannot be read: {error}.")).with_hint(
                r#"An example: {"rules":[{"match":{"job_type":"ml.*","serverless":{"runtime":"python*"}},"weight":10}]}"#,
            )
        })?;
        if routing.rules.len() > MAX_RULES || routing.text().len() > MAX_BYTES {
            return Err(wrong(format!("routing must have at most {MAX_RULES} rules and {MAX_BYTES} bytes of JSON.")));
        }
        if routing.rules.iter().any(|rule| !(0..=MAX_WEIGHT).contains(&rule.weight)) {
            return Err(wrong(format!("The weight of a rule in routing must be a number from 0 to {MAX_WEIGHT}.")));
        }
        Ok(routing)
    }

    /// Whether there are no rules.
    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// As it is stored and shown; empty without rules.
    pub(crate) fn text(&self) -> String {
        if self.is_empty() { String::new() } else { serde_json::to_string(self).unwrap_or_default() }
    }

    /// Reads what was stored.
    ///
    /// # Errors
    /// The text is no rules.
    pub(crate) fn stored(text: &str) -> serde_json::Result<Self> {
        if text.is_empty() { Ok(Self::default()) } else { serde_json::from_str(text) }
    }

    /// The rules of an endpoint that takes no jobs.
    pub(crate) fn closed() -> Self {
        Self { rules: vec![Rule { wanted: Wanted::default(), weight: 0 }] }
    }

    /// The weight of the endpoint for a job; `base` where no rule fits.
    pub(crate) fn weight(&self, job: &Job<'_>, base: i64) -> i64 {
        let mut hints = None;
        let fitting = self.rules.iter().find(|rule| {
            let Wanted { job_type, queue, serverless } = &rule.wanted;
            let is = |pattern: &Option<String>, name: &str| pattern.as_ref().is_none_or(|pattern| fits(pattern, name));
            is(job_type, job.job_type)
                && is(queue, job.queue)
                && (serverless.is_empty() || has_all(hints.get_or_insert_with(|| job.hints()), serverless))
        });
        fitting.map_or(base, |rule| rule.weight)
    }
}

fn has_all(hints: &Value, wanted: &Map<String, Value>) -> bool {
    wanted.iter().all(|(name, value)| match (hints.get(name), value) {
        (Some(Value::String(hint)), Value::String(pattern)) => fits(pattern, hint),
        (hint, value) => hint == Some(value),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_rule_that_fits_gives_the_weight() {
        let routing = Routing::parse(&json!({"rules": [
            {"match": {"serverless": {"runtime": "provided.*", "memory_mb": 1024}}, "weight": 7},
            {"match": {"job_type": "ml.*", "queue": "gpu"}, "weight": 0},
        ]}));
        let routing = routing.unwrap();
        let hinted = r#""meta":{"serverless":{"memory_mb":1024,"runtime":"provided.al2023"}}"#;
        let weight = |job_type, queue, text| routing.weight(&Job { job_type, queue, text }, 3);
        assert_eq!(weight("ml.inference", "gpu", hinted), 7);
        assert_eq!(weight("ml.inference", "gpu", r#""meta":{"serverless":{"memory_mb":512,"runtime":"provided.x"}}"#), 0);
        assert_eq!(weight("ml.inference", "default", ""), 3);
        assert_eq!(Routing::stored(&routing.text()).unwrap(), routing);
        assert_eq!(Routing::stored("").unwrap(), Routing::default());
        assert!(Routing::stored("[").is_err());
        assert_eq!(Routing::closed().weight(&Job { job_type: "a", queue: "b", text: "" }, 3), 0);
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for wrong in [
            json!([]),
            json!({"rule": []}),
            json!({"rules": [{"match": {}}]}),
            json!({"rules": [{"weight": -1}]}),
            json!({"rules": [{"weight": 1, "match": {"type": "x"}}]}),
        ] {
            assert!(Routing::parse(&wrong).is_err(), "{wrong}");
        }
        assert_eq!(Routing::parse(&Value::Null).unwrap().text(), "");
    }
}
