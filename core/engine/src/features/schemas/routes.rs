//! `/schemas` and `/admin/schemas`: three published families of routes, which are views of one registry (extensions
//! section 15).
//!
//! The registry document names a schema by job type and version, the HTTP binding by URI, and the versioning document
//! answers with the schema itself instead of a member `schema`.
use std::collections::BTreeMap;

use axum::extract::{Path, RawQuery, State};
use ojs_model::envelope::DEFAULT_TENANT;
use ojs_model::json::{push_member, push_text, push_time, string};
use ojs_model::{OjsError, Timestamp};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::features::schemas::commands::{
    DeleteSchema, GetSchema, ListSchemas, Name, RegisterSchema, SchemaVersions, SetSchemaMode, shared,
};
use crate::features::schemas::compatible_with::CompatibleWith;
use crate::features::schemas::records::{MAX_SCHEMAS, Mode, SchemaRow, Version};
use crate::features::schemas::rules::NewSchema;
use crate::http::call::Call;
use crate::http::page::pagination;
use crate::http::reply::{Failure, Json};
use crate::http::request::Params;

type Members<'a> = BTreeMap<String, &'a RawValue>;

/// `POST /schemas`.
pub async fn register(State(engine): State<Engine>, call: Call) -> Result<Json, Failure> {
    let members: Members<'_> = call.parse()?;
    let text = |name: &str| members.get(name).and_then(|raw| string(raw.get()));
    let job_type = text("job_type").or_else(|| text("type"));
    let job_type = job_type.ok_or_else(|| OjsError::invalid_field("job_type", "job_type is required: a string."))?;
    let version = members.get("version").and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    let version = Version::from_json(version.as_ref())?;
    let (row, schema) = store(&engine, &members, &job_type, version).await?;
    let location = format!("/ojs/v1/schemas/{}/{}", row.own_type(), row.version);
    Ok(Json::created(wrapped(&row, Some(&schema)), Some(location)))
}

/// `PUT /admin/schemas/{type}/{version}`.
pub async fn put(
    State(engine): State<Engine>,
    Path((job_type, version)): Path<(String, String)>,
    call: Call,
) -> Result<Json, Failure> {
    let members: Members<'_> = call.parse()?;
    let (row, schema) = store(&engine, &members, &job_type, Version::parse(&version)?).await?;
    let location = format!("/ojs/v1/admin/schemas/{}/{}", row.own_type(), row.version);
    Ok(Json::created(described(&row, Some(&schema)), Some(location)))
}

/// Registers what a body says; answers with the text of the schema as well.
async fn store(engine: &Engine, members: &Members<'_>, job_type: &str, version: Version) -> Result<(SchemaRow, String), Failure> {
    let mode = match members.get("mode").filter(|raw| raw.get() != "null") {
        Some(raw) => Mode::parse(&string(raw.get()).unwrap_or_default())?,
        None => Mode::default(),
    };
    let uri = members.get("uri").and_then(|raw| string(raw.get()));
    let schema = members.get("schema").or_else(|| members.get("args_schema"));
    let schema = schema.ok_or_else(|| OjsError::invalid_field("schema", "schema is required: a JSON Schema for args."))?.get();
    let compatible_with = members.get("compatible_with").and_then(|raw| serde_json::from_str(raw.get()).ok());
    let compatible_with = CompatibleWith::from_json(&compatible_with.unwrap_or_default())?;
    let tenant = engine.tenant().map(|tenant| &**tenant);
    if let Some(DEFAULT_TENANT) = tenant {
        // Its jobs are compared with what all tenants share.
        return Err(shared(DEFAULT_TENANT).into());
    }
    let new = NewSchema::new((tenant, job_type), version, uri.as_deref(), mode, schema, engine.now())?;
    let new = new.compatible_with(compatible_with);
    let row = engine.execute(RegisterSchema(new)).await?;
    Ok((row, schema.to_owned()))
}

/// `GET /schemas`.
pub async fn list(State(engine): State<Engine>, RawQuery(query): RawQuery) -> Result<Json, Failure> {
    let (limit, offset) = Params::parse(query.as_deref())?.page(MAX_SCHEMAS)?;
    let (rows, total) = engine.query(ListSchemas { limit, offset }).await?;
    let page: Vec<String> = rows.iter().map(|row| described(row, None)).collect();
    let pagination = pagination(total, limit, offset);
    Ok(Json::ok(format!("{{\"schemas\":[{}],\"pagination\":{pagination}}}", page.join(","))))
}

/// A job type or a URI: no job type has a colon.
fn latest(name: String) -> Name {
    if name.contains(':') { Name::Uri(name) } else { Name::Latest(name) }
}

fn exact((job_type, version): (String, String)) -> Result<Name, OjsError> {
    // A version of another form names nothing.
    let version = Version::parse(&version).map_err(|_| OjsError::not_found("schema", &format!("{job_type}@{version}")))?;
    Ok(Name::Version(job_type, version))
}

/// `GET /schemas/{type}`, or a URI in its place.
pub async fn get(State(engine): State<Engine>, Path(name): Path<String>) -> Result<Json, Failure> {
    let (row, schema) = engine.query(GetSchema(latest(name))).await?;
    Ok(Json::ok(wrapped(&row, Some(&schema))))
}

/// `GET /schemas/{type}/{version}`.
pub async fn get_version(State(engine): State<Engine>, Path(path): Path<(String, String)>) -> Result<Json, Failure> {
    let (row, schema) = engine.query(GetSchema(exact(path)?)).await?;
    Ok(Json::ok(wrapped(&row, Some(&schema))))
}

/// `GET /admin/schemas/{type}`.
pub async fn show(State(engine): State<Engine>, Path(name): Path<String>) -> Result<Json, Failure> {
    let (row, schema) = engine.query(GetSchema(latest(name))).await?;
    Ok(Json::ok(described(&row, Some(&schema))))
}

/// `GET /admin/schemas/{type}/{version}`.
pub async fn show_version(State(engine): State<Engine>, Path(path): Path<(String, String)>) -> Result<Json, Failure> {
    let (row, schema) = engine.query(GetSchema(exact(path)?)).await?;
    Ok(Json::ok(described(&row, Some(&schema))))
}

/// `GET /schemas/{type}/versions`.
pub async fn versions(State(engine): State<Engine>, Path(job_type): Path<String>) -> Result<Json, Failure> {
    let rows = engine.query(SchemaVersions(job_type)).await?;
    let version = |(place, row): (usize, &SchemaRow)| {
        json!({
            "version": row.version_json(), "uri": row.own_uri(), "mode": row.mode.as_str(),
            "created_at": Timestamp::from_millis(row.created_at).to_string(), "is_latest": place == 0,
        })
    };
    let versions: Vec<Value> = rows.iter().enumerate().map(version).collect();
    Ok(Json::ok(json!({"versions": versions}).to_string()))
}

/// `PATCH /schemas/{type}/{version}`.
pub async fn set_mode(State(engine): State<Engine>, Path(path): Path<(String, String)>, call: Call) -> Result<Json, Failure> {
    let members: Members<'_> = call.parse()?;
    let mode = Mode::parse(&members.get("mode").and_then(|raw| string(raw.get())).unwrap_or_default())?;
    let row = engine.execute(SetSchemaMode { name: exact(path)?, mode }).await?;
    Ok(Json::ok(wrapped(&row, None)))
}

/// `DELETE /schemas/{type}/{version}`.
pub async fn delete(State(engine): State<Engine>, Path(path): Path<(String, String)>) -> Result<Json, Failure> {
    Ok(deleted(&engine.execute(DeleteSchema(exact(path)?)).await?))
}

/// `DELETE /schemas/{uri}`.
pub async fn delete_by_uri(State(engine): State<Engine>, Path(uri): Path<String>) -> Result<Json, Failure> {
    Ok(deleted(&engine.execute(DeleteSchema(Name::Uri(uri))).await?))
}

fn deleted(row: &SchemaRow) -> Json {
    let job_type = row.own_type();
    let body = json!({
        "deleted": true, "uri": row.own_uri(), "type": job_type, "job_type": job_type, "version": row.version_json(),
    });
    Json::ok(body.to_string())
}

fn wrapped(row: &SchemaRow, schema: Option<&str>) -> String {
    format!("{{\"schema\":{}}}", described(row, schema))
}

/// The union of the published forms. The schema is the text that was registered.
fn described(row: &SchemaRow, schema: Option<&str>) -> String {
    let mut out = String::from("{");
    push_text(&mut out, "type", row.own_type());
    push_text(&mut out, "job_type", row.own_type());
    push_member(&mut out, "version", &row.version_json().to_string());
    push_text(&mut out, "uri", row.own_uri());
    push_text(&mut out, "mode", row.mode.as_str());
    if let Some(tenant) = row.tenant() {
        push_text(&mut out, "tenant_id", tenant);
    }
    if let Some(schema) = schema {
        push_member(&mut out, "schema", schema);
    }
    push_time(&mut out, "created_at", Timestamp::from_millis(row.created_at));
    out.push('}');
    out
}
