//! The tenant of a job: `meta.tenant_id`, written by the client or, for a caller of a tenant, by the server (extensions
//! section 10).
use std::borrow::Cow;

use super::fields::{Members, Place};
use super::reader::check_meta_size;
use crate::OjsError;
use crate::json::{self, push_member, push_text};
use crate::label::is_label;

/// The member of `meta` that names the tenant.
pub const TENANT_ID: &str = "tenant_id";
/// The tenant of what names none. Nothing is written for it.
pub const DEFAULT_TENANT: &str = "_default";
/// Longest id in bytes.
const MAX_TENANT_BYTES: usize = 255;

/// Checks the id of a tenant: letters, digits, `.`, `_`, `:` and `-`, the first one a letter or digit, at most 255
/// bytes; or `_default`.
///
/// ```
/// use ojs_model::envelope::check_tenant;
/// assert!(check_tenant("tenant_id", "acme:eu-1").is_ok());
/// assert!(check_tenant("tenant_id", "_default").is_ok());
/// assert!(check_tenant("tenant_id", "_other").is_err());
/// assert!(check_tenant("tenant_id", "a/b").is_err());
/// ```
///
/// # Errors
/// 400 `invalid_payload` with the field.
pub fn check_tenant(field: &str, id: &str) -> Result<(), OjsError> {
    if is_label(id, MAX_TENANT_BYTES) || id == DEFAULT_TENANT {
        return Ok(());
    }
    let message = format!(
        "{field} must be letters, digits, '.', '_', ':' and '-', starting with a letter or digit, at most {MAX_TENANT_BYTES} \
         bytes, got '{}'.",
        super::shorten(id)
    );
    Err(OjsError::invalid_field(field, message))
}

/// `meta` with the tenant of the caller, and the tenant of the job; `None` for the default tenant.
pub(super) fn settle<'m>(meta: Cow<'m, str>, caller: Option<&str>) -> Result<(Cow<'m, str>, Option<Box<str>>), OjsError> {
    let given = given_in(&meta)?;
    match (given, caller) {
        (None, None) => Ok((meta, None)),
        (None, Some(DEFAULT_TENANT)) => Ok((meta, None)),
        (None, Some(caller)) => Ok((Cow::Owned(with_tenant(&meta, caller)?), Some(caller.into()))),
        (Some(given), Some(caller)) if given != caller => {
            let message =
                format!("meta.tenant_id is '{given}', but the request is one of tenant '{caller}': they must be the same.");
            Err(OjsError::invalid_field("meta.tenant_id", message))
        }
        (Some(given), _) if given == DEFAULT_TENANT => Ok((meta, None)),
        (Some(given), _) => Ok((meta, Some(given.into_boxed_str()))),
    }
}

/// The tenant that `meta` names, checked.
fn given_in(meta: &str) -> Result<Option<String>, OjsError> {
    // Most jobs name none. A name may be written with escapes.
    if !meta.contains(TENANT_ID) && !meta.contains('\\') {
        return Ok(None);
    }
    let wrong = || OjsError::invalid_field("meta", "meta must be an object.");
    let known = Members::parse(meta, Place::Free).map_err(|_| wrong())?;
    let Some((_, raw)) = known.rest.iter().rev().find(|(name, _)| name == TENANT_ID) else { return Ok(None) };
    if *raw == "null" {
        return Ok(None);
    }
    let id = json::string(raw).ok_or_else(|| OjsError::invalid_field("meta.tenant_id", "meta.tenant_id must be a string."))?;
    check_tenant("meta.tenant_id", &id)?;
    Ok(Some(id.into_owned()))
}

fn with_tenant(meta: &str, tenant: &str) -> Result<String, OjsError> {
    let known = Members::parse(meta, Place::Free).map_err(|_| OjsError::invalid_field("meta", "meta must be an object."))?;
    let mut named = String::with_capacity(meta.len() + tenant.len() + 20);
    named.push('{');
    push_text(&mut named, TENANT_ID, tenant);
    for (name, raw) in known.rest.iter().filter(|(name, _)| name != TENANT_ID) {
        push_member(&mut named, name, raw);
    }
    named.push('}');
    check_meta_size(&named)?;
    Ok(named)
}

/// The tenant that the text of a job names, given as the members of its envelope without braces; `None` for the default
/// tenant.
///
/// ```
/// use ojs_model::envelope::tenant_in;
/// assert_eq!(tenant_in(r#""type":"a","meta":{"tenant_id":"acme"}"#)?.as_deref(), Some("acme"));
/// assert_eq!(tenant_in(r#""type":"a","meta":{}"#)?, None);
/// # Ok::<(), ojs_model::OjsError>(())
/// ```
///
/// # Errors
/// 400 `invalid_payload` when `meta.tenant_id` is not the id of a tenant.
pub fn tenant_in(body: &str) -> Result<Option<String>, OjsError> {
    if !body.contains(TENANT_ID) && !body.contains('\\') {
        return Ok(None);
    }
    let whole = format!("{{{body}}}");
    let known = json::members(&whole).map_err(|_| OjsError::invalid_field("meta", "meta must be an object."))?;
    let meta = known.iter().rev().find(|(name, _)| name == "meta").map_or("{}", |(_, raw)| *raw);
    Ok(given_in(meta)?.filter(|id| id != DEFAULT_TENANT))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;

    fn settled(meta: &str, caller: Option<&str>) -> Result<(String, Option<String>), OjsError> {
        let (meta, tenant) = settle(Cow::Borrowed(meta), caller)?;
        Ok((meta.into_owned(), tenant.map(String::from)))
    }

    #[test]
    fn a_tenant_is_written_once_and_read_under_any_spelling_of_its_name() {
        let acme = Some("acme".to_owned());
        assert_eq!(settled("{}", Some("acme")).unwrap(), (r#"{"tenant_id":"acme"}"#.to_owned(), acme.clone()));
        let written = r#"{"tenant_id":"acme","x":1.0}"#;
        assert_eq!(settled(r#"{"x":1.0,"tenant_id":null}"#, Some("acme")).unwrap(), (written.to_owned(), acme.clone()));
        assert_eq!(settled(written, Some("acme")).unwrap(), (written.to_owned(), acme.clone()));
        let escaped = "{\"tenant\\u005fid\":\"acme\"}";
        assert_eq!(settled(escaped, None).unwrap(), (escaped.to_owned(), acme));
        assert!(settled(escaped, Some("blog")).is_err());
        assert!(settled(r#"{"tenant_id":"acme","tenant_id":"blog"}"#, Some("acme")).is_err(), "the last one counts");
    }

    #[test]
    fn the_default_tenant_is_not_written() {
        assert_eq!(settled("{}", Some(DEFAULT_TENANT)).unwrap(), ("{}".to_owned(), None));
        assert_eq!(settled(r#"{"tenant_id":"_default"}"#, None).unwrap().1, None);
        assert!(settled(r#"{"tenant_id":"_default"}"#, Some("acme")).is_err());
        assert!(settled(r#"{"tenant_id":"acme"}"#, Some(DEFAULT_TENANT)).is_err());
    }

    #[test]
    fn keys_of_two_tenants_are_never_equal() {
        let key = crate::unique::UniqueKey::parse(&"a".repeat(64)).unwrap();
        assert_ne!(key.of_tenant("acme"), key.of_tenant("blog"));
        assert_ne!(key.of_tenant("acme"), key);
    }
}
