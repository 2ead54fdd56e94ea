//! The audit of endpoints: their breakers against their counts, and their rules.
use ojs_model::JobId;

use super::health::MOST_FAILURES;
use super::records::EndpointRow;
use super::routing::Routing;
use crate::error::Result;
use crate::kernel::audit::{Audit, Checks};

pub(crate) const CHECKS: Checks = Checks { job: None, whole: Some(compare) };

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    audit.each_record(
        JobId::from_bytes([0; 16]),
        |row: &EndpointRow| row.id,
        |audit, row| {
            let subject = format!("push endpoint {}", row.id);
            if let Err(cause) = Routing::stored(&row.routing) {
                audit.find("push_routing", &subject, "its rules", "readable", cause);
            }
            if row.opened_at > 0 && row.failures < MOST_FAILURES {
                audit.find("push_breaker", &subject, "failures of an endpoint that is sent nothing", MOST_FAILURES, row.failures);
            }
            if row.failures > 0 && row.failed_at == 0 {
                audit.find("push_breaker", &subject, "the time of its latest failure", "a time", 0);
            }
            if row.probe_until > 0 && row.opened_at == 0 {
                audit.find("push_breaker", &subject, "the trial of an endpoint without a breaker", 0, row.probe_until);
            }
            Ok(())
        },
    )
}
