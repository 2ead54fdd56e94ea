//! The option `tenant`: to which tenant a job belongs (extensions section 10). On the wire it is `meta.tenant_id`.
use std::borrow::Cow;

use ojs_model::envelope::check_tenant;
use ojs_model::json::{members, push_member, push_text, string};

use crate::error::Error;
use crate::members::{Members, find};

/// The name of the option.
pub(super) const OPTION: &str = "tenant";
/// Its name in the metadata.
const IN_META: &str = "tenant_id";

/// The tenant of a job, from its options or else from those of its type; `None` when neither names one.
///
/// # Errors
/// [`Error::Validation`] for what is no id of a tenant.
pub(super) fn of<'a>(given: &Members<'a>, of_type: &'a [(String, String)]) -> Result<Option<Cow<'a, str>>, Error> {
    let own = find(given, OPTION).filter(|value| *value != "null");
    let of_type = of_type.iter().find(|(name, _)| name == OPTION).map(|(_, value)| value.as_str());
    own.or(of_type).map(read).transpose()
}

/// The id of a tenant, from JSON text.
fn read(value: &str) -> Result<Cow<'_, str>, Error> {
    let id = string(value).ok_or_else(|| Error::validation(OPTION, "must be the id of a tenant, as text"))?;
    check(&id)?;
    Ok(id)
}

/// # Errors
/// [`Error::Validation`] for what is no id of a tenant.
pub(crate) fn check(id: &str) -> Result<(), Error> {
    check_tenant(OPTION, id).map_err(|error| Error::validation(OPTION, error.message.clone()))
}

/// The metadata of a job with its tenant; `None` when it says the same already.
///
/// # Errors
/// [`Error::Validation`] when the metadata names another tenant.
pub(super) fn noted(job: &[u8], tenant: &str) -> Result<Option<String>, Error> {
    let job = std::str::from_utf8(job).map_err(|_| Error::validation("job", "must be UTF-8"))?;
    let job = members(job).map_err(|_| Error::validation("job", "must be a JSON object"))?;
    // What is no object the server refuses, and says why.
    let meta = find(&job, "meta").map_or_else(|| Ok(Vec::new()), members).unwrap_or_default();
    if let Some(said) = find(&meta, IN_META).filter(|value| *value != "null") {
        if string(said).is_some_and(|said| said == tenant) {
            return Ok(None);
        }
        return Err(Error::validation(OPTION, format!("is '{tenant}', but meta.{IN_META} is {said}: say it once")));
    }
    let mut out = String::from("{");
    for (name, value) in meta.iter().filter(|(name, _)| name != IN_META) {
        push_member(&mut out, name, value);
    }
    push_text(&mut out, IN_META, tenant);
    out.push('}');
    Ok(Some(out))
}
