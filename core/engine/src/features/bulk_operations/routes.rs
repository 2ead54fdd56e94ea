//! `/admin/bulk`: changes of many jobs that go on in the background.
use std::convert::Infallible;

use axum::body::Body;
use axum::extract::{FromRequestParts, Path, RawQuery, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use ojs_model::{JobId, OjsError};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::{Duration, Instant, sleep_until};

use super::answer::describe;
use super::commands::{CreateOperation, DirectOperation, GetOperation, ListOperations, Word};
use super::plan::Plan;
use super::records::{OperationRow, OperationState};
use super::survey::{Survey, Surveyed};
use crate::engine::{Engine, MAX_WAIT};
use crate::features::bulk::filter::confirmed;
use crate::features::bulk::records::Action;
use crate::http::access::Permission;
use crate::http::client_limit::Guest;
use crate::http::guard::Caller;
use crate::http::holder::Holder;
use crate::http::operator::MAX_PAGE;
use crate::http::reply::{Failure, Json};
use crate::http::request::{Params, job_id, parse, read_body};
use crate::http::terms::invalid;
use crate::kernel::wake::Signal;

/// Characters of a reason.
const MAX_REASON: usize = 500;
/// Operations on a page that does not say how many.
const PAGE: usize = 20;

/// The key of a request, where keys are asked for.
#[derive(Debug)]
pub struct By(Option<Holder>);

impl<S: Send + Sync> FromRequestParts<S> for By {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(parts.extensions.get::<Caller>().map(|Caller(holder)| holder.clone())))
    }
}

impl By {
    /// Jobs are deleted by those only who may delete one.
    fn check(&self, action: Action) -> Result<(), OjsError> {
        let needs = if action == Action::Delete { Permission::Administer } else { Permission::Operate };
        self.0.as_ref().map_or(Ok(()), |holder| holder.check(needs))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct New<'a> {
    action: Option<String>,
    #[serde(borrow)]
    filter: Option<&'a RawValue>,
    reason: Option<String>,
    #[serde(default)]
    confirm: bool,
    #[serde(default)]
    dry_run: bool,
}

/// `POST /admin/bulk {"action":…,"filter":{…},"reason":…,"confirm":true}`: 202 with the operation; with `dry_run` 200
/// with what it would find.
pub async fn create(State(engine): State<Engine>, by: By, headers: HeaderMap, body: Body) -> Result<Json, Failure> {
    let body = read_body(&headers, body).await?;
    let request: New<'_> = parse(&body)?;
    let action = action(request.action.as_deref())?;
    by.check(action)?;
    let filter = request.filter.map(RawValue::get).filter(|text| *text != "null").ok_or_else(|| {
        invalid("filter", "filter is required: which jobs. An empty one, {}, means all that the action can reach.")
    })?;
    let reason = request.reason.filter(|reason| !reason.is_empty());
    if reason.as_ref().is_some_and(|reason| reason.chars().count() > MAX_REASON) {
        return Err(invalid("reason", format!("reason must have at most {MAX_REASON} characters.")).into());
    }
    let plan = Plan::new(action, filter, engine.now().as_millis())?;
    confirmed(request.confirm || request.dry_run)?;
    let surveyed = engine.query(Survey(plan.clone())).await?;
    if request.dry_run {
        return Ok(Json::ok(surveyed.to_value(&plan).to_string()));
    }
    let tenant = engine.tenant().map(ToString::to_string).unwrap_or_default();
    let created_by = by.0.map(|holder| holder.name().to_owned());
    let row = OperationRow { tenant, reason, created_by, ..fresh(action, filter, &surveyed) };
    let row = engine.execute(CreateOperation(row)).await?;
    Ok(answer(StatusCode::ACCEPTED, &row))
}

fn action(word: Option<&str>) -> Result<Action, OjsError> {
    let known = word.and_then(Action::from_word).filter(|action| *action != Action::Purge);
    known.ok_or_else(|| {
        let given = word.map_or_else(String::new, |word| format!(", got '{word}'"));
        invalid("action", format!("action must be retry, cancel or delete{given}."))
    })
}

/// An operation that nothing has happened to. The store sets its times.
fn fresh(action: Action, filter: &str, surveyed: &Surveyed) -> OperationRow {
    let (expected, relation) = surveyed.expected();
    OperationRow {
        id: JobId::now_v7(),
        tenant: String::new(),
        action,
        filter: filter.to_owned(),
        reason: None,
        created_by: None,
        created_at: 0,
        expected: i64::try_from(expected).unwrap_or(i64::MAX),
        relation,
        state: OperationState::Running,
        open_at: 0,
        finished_at: 0,
        updated_at: 0,
        round: 0,
        state_place: 0,
        after_seq: 0,
        round_changed: 0,
        seen: 0,
        changed: 0,
        refused: 0,
        refusals: "[]".to_owned(),
        fault: None,
        holder: None,
        lease_until: 0,
    }
}

/// `GET /admin/bulk?state&per_page&cursor`: the newest first.
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let params = Params::parse(query.as_deref())?;
    let per_page = params.number("per_page", PAGE, MAX_PAGE)?.max(1);
    let state = params.get("state").map(state).transpose()?;
    let cursor = |text: &str| {
        let message = format!("cursor must be the next_cursor of the page before, got '{text}'.");
        text.parse::<JobId>().map_err(|_| invalid("cursor", message))
    };
    let after = params.get("cursor").map(cursor).transpose()?;
    let mut rows = engine.query(ListOperations { state, after, limit: per_page + 1 }).await?;
    let has_more = rows.len() > per_page;
    rows.truncate(per_page);
    let next = rows.last().filter(|_| has_more).map(|row| row.id.to_string());
    let items: Vec<_> = rows.iter().map(describe).collect();
    let pagination = json!({"per_page": per_page, "has_more": has_more, "next_cursor": next});
    Ok(Json::ok(json!({"items": items, "pagination": pagination}).to_string()))
}

fn state(word: &str) -> Result<OperationState, OjsError> {
    OperationState::from_word(word)
        .ok_or_else(|| invalid("state", format!("state must be running, paused, completed, cancelled or failed, got '{word}'.")))
}

/// `GET /admin/bulk/{id}[?wait_ms=…]`: with `wait_ms`, as soon as it is not running any more.
pub async fn get(
    State(engine): State<Engine>,
    guest: Guest,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json, Failure> {
    let id = job_id("bulk operation", &id)?;
    let params = Params::parse(query.as_deref())?;
    let most = usize::try_from(MAX_WAIT.as_millis()).unwrap_or(usize::MAX);
    let patience = Duration::from_millis(params.number("wait_ms", 0, most)? as u64);
    let _slot = engine.slot(&guest, patience)?;
    Ok(answer(StatusCode::OK, &wait(&engine, id, patience).await?))
}

async fn wait(engine: &Engine, id: JobId, patience: Duration) -> Result<OperationRow, Failure> {
    let deadline = Instant::now() + patience;
    loop {
        // Registered before the look: an end in between is not missed.
        let registration = engine.watch(&Signal::Operation(id));
        let row = engine.query(GetOperation(id)).await?;
        if row.state != OperationState::Running || Instant::now() >= deadline {
            return Ok(row);
        }
        tokio::select! {
            () = registration.woken() => {}
            () = sleep_until(deadline) => {}
            () = engine.closed() => return Ok(row),
        }
    }
}

/// `POST /admin/bulk/{id}/pause`
pub async fn pause(State(engine): State<Engine>, by: By, Path(id): Path<String>) -> Result<Json, Failure> {
    direct(&engine, &by, &id, Word::Pause).await
}

/// `POST /admin/bulk/{id}/resume`
pub async fn resume(State(engine): State<Engine>, by: By, Path(id): Path<String>) -> Result<Json, Failure> {
    direct(&engine, &by, &id, Word::Resume).await
}

/// `POST /admin/bulk/{id}/cancel`
pub async fn cancel(State(engine): State<Engine>, by: By, Path(id): Path<String>) -> Result<Json, Failure> {
    direct(&engine, &by, &id, Word::Cancel).await
}

async fn direct(engine: &Engine, by: &By, id: &str, word: Word) -> Result<Json, Failure> {
    let id = job_id("bulk operation", id)?;
    if word == Word::Resume {
        by.check(engine.query(GetOperation(id)).await?.action)?;
    }
    let row = engine.execute(DirectOperation { id, word }).await?;
    Ok(answer(StatusCode::OK, &row))
}

fn answer(status: StatusCode, row: &OperationRow) -> Json {
    Json::with_status(status, describe(row).to_string())
}
