//! Completes workflows and cron jobs, so that every server reads them: builders, and packages of other languages, write
//! the shortest form.
use bytes::Bytes;
use ojs_model::json::{members, push_member, push_text, string};
use serde_json::value::RawValue;

use crate::error::Error;
use crate::members::{Members, find};
use crate::options;

/// The union of the published forms: `type`, `name`, and steps with ids; those of a group or batch under `jobs` too. A
/// graph has no `type`: its steps name those before them. A body of another shape, or with more than one form already,
/// stays as it is.
///
/// # Errors
/// [`Error::Validation`] when the text is no JSON object.
pub(crate) fn workflow(body: &Bytes) -> Result<Bytes, Error> {
    let text = object("workflow", body)?;
    Ok(complete_workflow(text)?.map_or_else(|| body.clone(), Bytes::from))
}

/// Adds the flat form to a cron job with `expression` and `job_template`. A body without a template stays as it is.
///
/// # Errors
/// [`Error::Validation`] when the text is no JSON object.
pub(crate) fn cron(body: &Bytes) -> Result<Bytes, Error> {
    let given = read("cron job", object("cron job", body)?)?;
    let Some(template) = find(&given, "job_template") else { return Ok(body.clone()) };
    let template = job(template)?;
    let mut out = String::from("{");
    for (name, value) in &given {
        push_member(&mut out, name, if name == "job_template" { &template } else { value });
    }
    if let Some(expression) = find(&given, "expression").filter(|_| find(&given, "cron").is_none()) {
        push_member(&mut out, "cron", expression);
    }
    for (name, value) in read("job_template", &template)? {
        if find(&given, &name).is_none() {
            push_member(&mut out, &name, value);
        }
    }
    out.push('}');
    Ok(out.into())
}

fn complete_workflow(text: &str) -> Result<Option<String>, Error> {
    let given = read("workflow", text)?;
    let kind = find(&given, "type").and_then(string).unwrap_or_default();
    let is_graph = kind == "graph" || find(&given, "type").is_none();
    let steps = match (find(&given, "steps"), find(&given, "jobs")) {
        (Some(steps), None) | (None, Some(steps)) if matches!(&*kind, "chain" | "group" | "batch") => steps,
        (Some(steps), None) if is_graph => steps,
        _ => return Ok(None),
    };
    // The server refuses anything that is not a list, with the reason.
    let Ok(steps) = serde_json::from_str::<Vec<&RawValue>>(steps) else { return Ok(None) };
    let steps = complete_steps(&steps, &kind)?;
    let mut out = String::from("{");
    if !is_graph {
        push_text(&mut out, "type", &kind);
    }
    match find(&given, "name") {
        Some(name) => push_member(&mut out, "name", name),
        // Servers of the HTTP binding's own form require a name.
        None => push_text(&mut out, "name", if is_graph { "graph" } else { &kind }),
    }
    push_member(&mut out, "steps", &steps);
    if matches!(&*kind, "group" | "batch") {
        push_member(&mut out, "jobs", &steps);
    }
    for (name, value) in given.iter().filter(|(name, _)| !matches!(&**name, "type" | "name" | "steps" | "jobs")) {
        match name.as_ref() {
            "callbacks" => push_member(&mut out, name, &complete_callbacks(value)?),
            _ => push_member(&mut out, name, value),
        }
    }
    out.push('}');
    Ok(Some(out))
}

/// Steps with ids. In a chain each names its predecessor, for servers that know only `depends_on`.
fn complete_steps(steps: &[&RawValue], kind: &str) -> Result<String, Error> {
    let (mut out, mut before) = (String::from("["), None::<String>);
    for (index, step) in steps.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        let step = step_or_workflow(step.get())?;
        let given = read("step", &step)?;
        let id = find(&given, "id").map_or_else(|| format!("\"step-{index}\""), str::to_owned);
        let mut text = String::from("{");
        for (name, value) in given.iter().filter(|(name, _)| name != "id") {
            push_member(&mut text, name, value);
        }
        push_member(&mut text, "id", &id);
        if let Some(before) = before.filter(|_| kind == "chain" && find(&given, "depends_on").is_none()) {
            push_member(&mut text, "depends_on", &format!("[{before}]"));
        }
        text.push('}');
        out.push_str(&text);
        before = Some(id);
    }
    out.push(']');
    Ok(out)
}

fn step_or_workflow(text: &str) -> Result<String, Error> {
    let given = read("step", text)?;
    if find(&given, "steps").or_else(|| find(&given, "jobs")).is_some() {
        return Ok(complete_workflow(text)?.unwrap_or_else(|| text.to_owned()));
    }
    job(text)
}

fn complete_callbacks(text: &str) -> Result<String, Error> {
    let mut out = String::from("{");
    for (name, value) in read("callbacks", text)? {
        push_member(&mut out, &name, &job(value)?);
    }
    out.push('}');
    Ok(out)
}

/// A job with its options as they are sent.
///
/// # Errors
/// [`Error::Validation`] that names the wrong option.
pub(crate) fn job(text: &str) -> Result<String, Error> {
    #[derive(serde::Deserialize)]
    struct Head<'a> {
        #[serde(borrow, rename = "type", default)]
        job_type: Option<&'a RawValue>,
        #[serde(borrow, default)]
        options: Option<&'a RawValue>,
    }
    // The server refuses anything that is not a job, with the reason.
    let Ok(head) = serde_json::from_str::<Head<'_>>(text) else { return Ok(text.to_owned()) };
    let job_type = head.job_type.and_then(|raw| string(raw.get()));
    let completed = options::complete(text.as_bytes(), job_type.as_deref().unwrap_or_default(), head.options)?;
    Ok(completed.and_then(|text| String::from_utf8(text).ok()).unwrap_or_else(|| text.to_owned()))
}

fn object<'a>(what: &'static str, body: &'a Bytes) -> Result<&'a str, Error> {
    std::str::from_utf8(body).map_err(|_| Error::validation(what, "must be UTF-8"))
}

fn read<'a>(what: &'static str, text: &'a str) -> Result<Members<'a>, Error> {
    members(text).map_err(|error| Error::validation(what, format!("must be a JSON object: {error}")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::request::JobRequest;
    use crate::workflow::{Callbacks, batch, chain, graph, group, node};
    use crate::{CronJob, RetryPolicy};

    fn completed(form: fn(&Bytes) -> Result<Bytes, Error>, body: &Value) -> Value {
        serde_json::from_slice(&form(&Bytes::from(body.to_string())).unwrap()).unwrap()
    }

    #[test]
    fn the_short_form_becomes_what_the_builders_write() {
        let retry = || JobRequest::new("c", ()).retry(RetryPolicy::new().initial_interval(std::time::Duration::from_secs(1)));
        let built = chain([
            JobRequest::new("a", [1]).into(),
            crate::workflow::Step::from(group([retry(), JobRequest::new("d", ())])),
            batch([JobRequest::new("e", ())], Callbacks::new().on_complete(JobRequest::new("f", ()))).into(),
        ])
        .name("etl");
        let job = |name: &str| json!({"type": name, "args": []});
        let short = json!({"type": "chain", "name": "etl", "steps": [
            {"type": "a", "args": [1]},
            {"type": "group", "jobs": [{"type": "c", "args": [], "options": {"retry": {"initial_interval": "PT1S"}}}, job("d")]},
            {"type": "batch", "jobs": [job("e")], "callbacks": {"on_complete": job("f")}},
        ]});
        assert_eq!(completed(workflow, &short), Value::try_from(&built).unwrap());
        assert_eq!(completed(workflow, &completed(workflow, &short)), completed(workflow, &short), "and stays that");
        let cron_job = CronJob::new("n", "@daily", JobRequest::new("t", [1]).queue("q")).timezone("UTC");
        let template = json!({"type": "t", "args": [1], "options": {"queue": "q"}});
        let short = json!({"name": "n", "expression": "@daily", "timezone": "UTC", "job_template": template});
        assert_eq!(completed(cron, &short), Value::try_from(&cron_job).unwrap());
    }

    #[test]
    fn a_graph_has_no_type_and_its_steps_have_complete_options() {
        let built = graph([
            node("a", JobRequest::new("fetch", ()).retry(RetryPolicy::new().max_attempts(5))),
            node("both", group([JobRequest::new("b", ()), JobRequest::new("c", ())])).after(["a"]),
        ]);
        let short = json!({"type": "graph", "steps": [
            {"id": "a", "type": "fetch", "args": [], "options": {"retry": 5}},
            {"id": "both", "depends_on": ["a"], "type": "group", "jobs": [
                {"type": "b", "args": []}, {"type": "c", "args": []},
            ]},
        ]});
        let sent = completed(workflow, &short);
        assert_eq!(sent, Value::try_from(&built).unwrap());
        assert_eq!((&sent["name"], sent.get("type"), sent.get("jobs")), (&json!("graph"), None, None));
        assert_eq!(sent["steps"][0]["options"]["retry"]["max_attempts"], 5);
        assert_eq!(sent["steps"][0].get("depends_on"), None);
        assert_eq!(completed(workflow, &sent), sent, "and stays that");
    }

    #[test]
    fn other_forms_stay_as_they_are() {
        let graph = json!({"name": "g", "steps": [{"id": "x", "type": "a", "args": []}, {"id": "y", "type": "b", "args": [], "depends_on": ["x"]}]});
        let wrong = json!({"type": "chain", "steps": 7});
        let flat = json!({"name": "n", "cron": "@daily", "type": "a"});
        for body in [graph, wrong] {
            assert_eq!(completed(workflow, &body), body);
        }
        assert_eq!(completed(cron, &flat), flat);
        assert!(workflow(&Bytes::from_static(b"[]")).is_err() && cron(&Bytes::from_static(b"7")).is_err());
        let own = json!({"type": "chain", "steps": [{"type": "a", "id": "first"}, {"type": "b"}]});
        assert_eq!(completed(workflow, &own)["steps"][1]["depends_on"], json!(["first"]));
    }
}
