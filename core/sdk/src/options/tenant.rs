//! The option `tenant`: to which tenant a job belongs (extensions section 10). On the wire it is `meta.tenant_id`.
use std::borrow::Cow;

use ojs_model::envelope::{TENANT_ID, check_tenant};
use ojs_model::json::string;

use super::{opened, with_texts};
use crate::error::Error;
use crate::members::{Members, find};

/// The name of the option.
pub(super) const OPTION: &str = "tenant";

/// The tenant of a job, from its options or else from those of its type; `None` when neither names one.
///
/// # Errors
/// [`Error::Validation`] for what is no id of a tenant.
pub(super) fn of<'a>(given: &Members<'a>, of_type: &'a [(String, String)]) -> Result<Option<Cow<'a, str>>, Error> {
    let of_type = of_type.iter().find(|(name, _)| name == OPTION).map(|(_, value)| value.as_str());
    find(given, OPTION).or(of_type).map(read).transpose()
}

/// The id of a tenant, from JSON text.
fn read(value: &str) -> Result<Cow<'_, str>, Error> {
    let id = string(value).ok_or_else(|| Error::validation(OPTION, "must be the id of a tenant, as text"))?;
    check_tenant(OPTION, &id).map_err(|error| Error::validation(OPTION, error.message.clone()))?;
    Ok(id)
}

/// The metadata of a job with its tenant; `None` when it says the same already.
///
/// # Errors
/// [`Error::Validation`] when the metadata names another tenant.
pub(super) fn noted(job: &[u8], tenant: &str) -> Result<Option<String>, Error> {
    let (_, meta) = opened(job)?;
    match find(&meta, TENANT_ID) {
        None => Ok(Some(with_texts(&meta, &[(TENANT_ID, tenant)]))),
        Some(said) if string(said).is_some_and(|said| said == tenant) => Ok(None),
        Some(said) => Err(Error::validation(OPTION, format!("is '{tenant}', but meta.{TENANT_ID} is {said}: say it once"))),
    }
}
