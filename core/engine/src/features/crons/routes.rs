//! `/cron`: register, list, read, switch, delete. Both published request forms are read, answers carry both (protocol section 8.2).
use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use ojs_model::cron::CronSchedule;
use ojs_model::json::{push_bare, push_member, push_text, push_time};
use ojs_model::{NewJob, OjsError, Timestamp};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::engine::Engine;
use crate::features::crons::commands::{DeleteCron, GetCron, ListCrons, PutCron, RunCron, SwitchCron};
use crate::features::crons::records::{CronRow, Overlap};
use crate::http::caller::Asker;
use crate::http::jobs::wrapped as job_text;
use crate::http::operator::NamedPage;
use crate::http::reply::{Failure, Json};
use crate::http::request::{Params, parse, read_body};

/// Longest name in bytes.
const MAX_NAME: usize = 255;
/// Most coming runs that one answer has.
const MAX_NEXT: usize = 100;
/// Largest page (protocol section 3.10).
const MAX_PAGE: usize = 200;

type Members<'a> = BTreeMap<&'a str, &'a RawValue>;

#[derive(Deserialize)]
struct CronBody<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    expression: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cron: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timezone: Option<Cow<'a, str>>,
    #[serde(borrow)]
    overlap_policy: Option<Cow<'a, str>>,
    enabled: Option<bool>,
    #[serde(borrow)]
    description: Option<Cow<'a, str>>,
    #[serde(borrow)]
    job_template: Option<Members<'a>>,
    // The flat form by name: `flatten` cannot hold raw values.
    #[serde(borrow, rename = "type")]
    job_type: Option<&'a RawValue>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    meta: Option<&'a RawValue>,
    #[serde(borrow)]
    options: Option<&'a RawValue>,
    /// Of the flat form: the SDK for Ruby sends it beside the options.
    #[serde(borrow)]
    queue: Option<&'a RawValue>,
}

impl CronBody<'_> {
    fn row(&self, now: Timestamp) -> Result<CronRow, OjsError> {
        let name = self.name.as_deref().unwrap_or_default();
        check_name(name)?;
        let expression = self.expression.as_deref().or(self.cron.as_deref());
        let expression = expression
            .ok_or_else(|| OjsError::invalid_field("expression", "expression is required: for example \"0 9 * * *\"."))?;
        let timezone = self.timezone.as_deref().unwrap_or("UTC");
        CronSchedule::parse(expression, timezone)?;
        let word = self.overlap_policy.as_deref().unwrap_or("skip");
        let overlap = Overlap::parse(word).ok_or_else(|| {
            OjsError::invalid_field("overlap_policy", "overlap_policy must be skip, allow, cancel_previous or enqueue.")
        })?;
        Ok(CronRow {
            name: name.to_owned(),
            expression: expression.to_owned(),
            timezone: timezone.to_owned(),
            overlap,
            enabled: self.enabled.unwrap_or(true),
            description: self.description.as_deref().map(str::to_owned),
            template: self.template(now)?,
            created_at: now.as_millis(),
            next_at: 0,
            last_at: 0,
            run_count: 0,
            last_job: None,
            waiting: 0,
        })
    }

    /// The enqueue request, from `job_template` or from the flat form.
    fn template(&self, now: Timestamp) -> Result<String, OjsError> {
        let flat = [("type", self.job_type), ("args", self.args), ("meta", self.meta), ("options", self.options)];
        let flat = || flat.into_iter().filter_map(|(name, raw)| Some((name, raw?))).collect();
        let mut members: Members<'_> = self.job_template.clone().unwrap_or_else(flat);
        // Options may stand beside `args` as in every enqueue request. With an id, the second run would be a duplicate
        // of the first.
        members.retain(|name, raw| *name != "id" && raw.get() != "null");
        let empty = RawValue::from_string("[]".to_owned()).map_err(|error| OjsError::invalid_field("args", error.to_string()))?;
        members.entry("args").or_insert(&empty);
        let queue = self.with_queue(members.get("options").copied())?;
        if let Some(options) = &queue {
            members.insert("options", options);
        }
        let unique = if members.contains_key("unique") { None } else { self.usually_unique(members.get("options").copied())? };
        if let Some(options) = &unique {
            members.insert("options", options);
        }
        let text = serde_json::to_string(&members).map_err(|error| OjsError::invalid_field("job_template", error.to_string()))?;
        NewJob::parse(&text, now).map_err(|mut error| {
            error.message = format!("job_template: {}", error.message);
            error
        })?;
        Ok(text)
    }

    /// The options with the queue of the flat form, when they name none.
    fn with_queue(&self, options: Option<&RawValue>) -> Result<Option<Box<RawValue>>, OjsError> {
        let Some(queue) = self.queue.filter(|raw| raw.get() != "null" && self.job_template.is_none()) else { return Ok(None) };
        let Ok(mut options) = serde_json::from_str::<Members<'_>>(options.map_or("{}", RawValue::get)) else { return Ok(None) };
        options.entry("queue").or_insert(queue);
        let wrong = |error: serde_json::Error| OjsError::invalid_field("queue", error.to_string());
        serde_json::value::to_raw_value(&options).map(Some).map_err(wrong)
    }

    /// An entry that names neither policy gets both: a tick is skipped while a job of its type waits or runs (EI-R004,
    /// section 13 of the interactions). Returns the options with that, or nothing when they stay as they are.
    fn usually_unique(&self, options: Option<&RawValue>) -> Result<Option<Box<RawValue>>, OjsError> {
        let Ok(mut options) = serde_json::from_str::<Members<'_>>(options.map_or("{}", RawValue::get)) else { return Ok(None) };
        if self.overlap_policy.is_some() || options.contains_key("unique") {
            return Ok(None);
        }
        let wrong = |error: serde_json::Error| OjsError::invalid_field("job_template", error.to_string());
        let unique = RawValue::from_string(r#"{"keys":["type","args"],"on_conflict":"reject"}"#.to_owned()).map_err(wrong)?;
        options.insert("unique", &unique);
        serde_json::value::to_raw_value(&options).map(Some).map_err(wrong)
    }
}

fn check_name(name: &str) -> Result<(), OjsError> {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let valid = name.len() <= MAX_NAME
        && name.bytes().next().is_some_and(plain)
        && name.bytes().all(|b| plain(b) || matches!(b, b'-' | b'.'));
    if valid {
        return Ok(());
    }
    Err(OjsError::invalid_field(
        "name",
        "name is required: lowercase letters, digits, '-' and '.', starting with a letter or digit, at most 255 bytes.",
    ))
}

pub async fn put(State(engine): State<Engine>, asker: Asker, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    let body = read_body(&headers, body).await?;
    let mut row = parse::<CronBody<'_>>(&body)?.row(engine.now())?;
    engine.check_has_tenant(|| NewJob::parse(&row.template, engine.now()).is_ok_and(|job| job.tenant.is_some()))?;
    row.template = asker.sign_template(&row.template);
    let location = format!("/ojs/v1/cron/{}", row.name);
    row.name = CronRow::name_of(engine.tenant().map(|tenant| &**tenant), &row.name);
    let (row, known) = engine.execute(PutCron(row)).await?;
    let text = wrapped(&row, &engine);
    Ok(if known { Json::ok(text) } else { Json::created(text, Some(location)) })
}

pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let part = NamedPage::of(&params, MAX_PAGE)?;
    let enabled = params.flag("enabled")?;
    let rows = engine.query(ListCrons).await?;
    let mut rows: Vec<&CronRow> = rows.iter().filter(|row| enabled.is_none_or(|enabled| enabled == row.enabled)).collect();
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    let total = rows.len();
    let first = part.behind.map_or(part.offset, |behind| rows.partition_point(|row| *row.name <= *behind));
    let mut rows: Vec<&CronRow> = rows.into_iter().skip(first).take(part.limit + 1).collect();
    let pagination = part.cut(&mut rows, total, |row| row.name.to_string());
    let page = rows.iter().map(|row| describe(row, &engine)).collect::<Vec<_>>().join(",");
    let mut out = String::from("{");
    push_member(&mut out, "crons", &format!("[{page}]"));
    push_member(&mut out, "cron_jobs", &format!("[{page}]"));
    push_bare(&mut out, "count", total);
    push_member(&mut out, "pagination", &pagination.to_string());
    out.push('}');
    Ok(Json::ok(out))
}

/// `GET /cron/{name}[?next=…]`: with `next`, also so many of its coming runs.
pub async fn get(State(engine): State<Engine>, Path(name): Path<String>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let next = Params::parse(query.as_deref())?.number("next", 0, MAX_NEXT)?;
    let name = stored_name(&engine, name)?;
    let row = engine.query(GetCron(name)).await?;
    let mut out = wrapped(&row, &engine);
    if next > 0 {
        out.pop();
        let runs: Vec<String> = coming(&row, engine.now(), next)?.iter().map(ToString::to_string).collect();
        push_member(&mut out, "next_runs", &json!(runs).to_string());
        out.push('}');
    }
    Ok(Json::ok(out))
}

/// The next runs of an entry, as its schedule has them; those of a disabled one as if it were enabled now.
fn coming(row: &CronRow, now: Timestamp, count: usize) -> Result<Vec<Timestamp>, OjsError> {
    let schedule = CronSchedule::parse(&row.expression, &row.timezone)?;
    let is_set = row.enabled && row.next_at > 0;
    let first = if is_set { Some(Timestamp::from_millis(row.next_at)) } else { schedule.next(now) };
    Ok(std::iter::successors(first, |run| schedule.next(*run)).take(count).collect())
}

pub async fn switch(
    State(engine): State<Engine>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json, Failure> {
    #[derive(Deserialize)]
    struct Switch {
        enabled: Option<bool>,
    }
    let body = read_body(&headers, body).await?;
    let enabled = parse::<Switch>(&body)?
        .enabled
        .ok_or_else(|| OjsError::invalid_field("enabled", "enabled is required: true or false."))?;
    let name = stored_name(&engine, name)?;
    Ok(Json::ok(wrapped(&engine.execute(SwitchCron { name, enabled }).await?, &engine)))
}

/// `POST /cron/{name}/run`: a job now, beside those of the schedule.
pub async fn run(State(engine): State<Engine>, Path(name): Path<String>) -> Result<Json, Failure> {
    let job = engine.execute(RunCron(stored_name(&engine, name)?)).await?;
    Ok(Json::created(job_text(&job, |_| {}), Some(format!("/ojs/v1/jobs/{}", job.row.id))))
}

pub async fn delete(State(engine): State<Engine>, Path(name): Path<String>) -> Result<Json, Failure> {
    let row = engine.execute(DeleteCron(stored_name(&engine, name)?)).await?;
    let text = describe(&row, &engine);
    let body = format!("{{\"cron\":{text},\"cron_job\":{text},\"deleted\":true,\"name\":{}}}", json!(shown_name(&row, &engine)));
    Ok(Json::with_status(StatusCode::OK, body))
}

/// The name under which an entry is stored that a caller calls so. A tenant has no names of others.
fn stored_name(engine: &Engine, name: String) -> Result<String, OjsError> {
    match engine.tenant() {
        None => Ok(name),
        Some(_) if check_name(&name).is_err() => Err(OjsError::not_found("cron", &name)),
        Some(tenant) => Ok(CronRow::name_of(Some(tenant), &name)),
    }
}

/// What a caller calls an entry: operators see of which tenant it is.
fn shown_name<'r>(row: &'r CronRow, engine: &Engine) -> &'r str {
    if engine.tenant().is_some() { row.own_name() } else { &row.name }
}

fn wrapped(row: &CronRow, engine: &Engine) -> String {
    let text = describe(row, engine);
    format!("{{\"cron\":{text},\"cron_job\":{text}}}")
}

/// The union of both published forms.
fn describe(row: &CronRow, engine: &Engine) -> String {
    let mut out = String::from("{");
    push_text(&mut out, "name", shown_name(row, engine));
    push_text(&mut out, "expression", &row.expression);
    push_text(&mut out, "cron", &row.expression);
    push_text(&mut out, "timezone", &row.timezone);
    push_text(&mut out, "overlap_policy", row.overlap.as_str());
    push_bare(&mut out, "enabled", row.enabled);
    push_text(&mut out, "status", if row.enabled { "active" } else { "disabled" });
    push_member(&mut out, "description", &json!(row.description).to_string());
    push_member(&mut out, "job_template", &row.template);
    let members: Members<'_> = serde_json::from_str(&row.template).unwrap_or_default();
    for (name, usual) in [("type", "null"), ("args", "[]"), ("meta", "{}"), ("options", "{}")] {
        push_member(&mut out, name, members.get(name).map_or(usual, |raw| raw.get()));
    }
    for (name, at) in [("created_at", row.created_at), ("next_run_at", row.next_at), ("last_run_at", row.last_at)] {
        if at > 0 {
            push_time(&mut out, name, Timestamp::from_millis(at));
        } else {
            push_member(&mut out, name, "null");
        }
    }
    push_bare(&mut out, "run_count", row.run_count);
    out.push('}');
    out
}
