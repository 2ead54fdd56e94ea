//! Whether the arguments of a dead letter still match their schema.
use ojs_model::{OjsError, envelope};

use super::records::SchemaTables;
use super::rules::compared;
use crate::error::{Refusal, StoreError};
use crate::kernel::explanation::Reason;
use crate::kernel::forecast::{Effect, Forecast};
use crate::store::tables::Tables;

/// A replay without changes compares no arguments, so the handler gets what an enqueue would refuse.
pub(super) fn foresee(tables: &mut dyn Tables, found: &mut Forecast<'_>) -> Result<(), StoreError> {
    if !tables.has_schemas()? {
        return Ok(());
    }
    let job_type = tables.job_type_name(found.job.row.job_type_id)?;
    let text = &found.job.body.text;
    let tenant = envelope::tenant_in(text).map_err(Refusal::from);
    let message = match tenant.and_then(|tenant| compared(tables, tenant.as_deref(), &job_type, text)) {
        Ok(warnings) => warnings.into_iter().next(),
        Err(Refusal::Ojs(error)) => Some(told(&error)),
        Err(refusal) => Some(refusal.into_error()?.message),
    };
    if let Some(message) = message {
        let reason = Reason::new("schema_mismatch", message).link(format!("/schemas/{job_type}"));
        found.add(Effect::Warning, reason.command(format!("ojs schemas get {job_type}")));
    }
    Ok(())
}

fn told(error: &OjsError) -> String {
    format!("{} A replay does not compare them: the handler gets them as they are.", error.message)
}
