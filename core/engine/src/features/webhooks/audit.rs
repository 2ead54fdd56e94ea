//! The audit of deliveries: their states against their times, and that each has a subscription. The same for what was
//! dropped.
use std::collections::BTreeSet;

use ojs_model::JobId;

use super::records::{DeliveryRow, DeliveryState, DropRow, SubscriptionRow};
use crate::error::Result;
use crate::kernel::audit::{Audit, Checks};

pub(crate) const CHECKS: Checks = Checks { job: None, whole: Some(compare) };

fn compare(audit: &mut Audit<'_>) -> Result<()> {
    let least = JobId::from_bytes([0; 16]);
    let mut known = BTreeSet::new();
    audit.each_record(
        least,
        |row: &SubscriptionRow| row.id,
        |_, row| {
            known.insert(row.id);
            Ok(())
        },
    )?;
    audit.each_record(
        least,
        |row: &DeliveryRow| row.id,
        |audit, row| {
            let subject = format!("delivery {}", row.id);
            let ended = row.state.is_final();
            audit.same("delivery_times", &subject, "whether it is due at some time", !ended, row.due_at > 0);
            audit.same("delivery_times", &subject, "whether it has an end", ended, row.ended_at > 0 && row.keep_until > 0);
            if row.state == DeliveryState::Sending && row.lease == 0 {
                audit.find("delivery_lease", &subject, "the lease of a delivery that is being sent", "more than 0", 0);
            }
            if !known.contains(&row.subscription) {
                audit.find("delivery_subscription", &subject, "its subscription", "a row", "none");
            }
            Ok(())
        },
    )?;
    audit.each_record(
        least,
        |row: &DropRow| row.subscription,
        |audit, row| {
            let subject = format!("events dropped for subscription {}", row.subscription);
            if row.events < 1 {
                audit.find("webhook_drops", &subject, "how many they are", "more than 0", row.events);
            }
            if row.since < 1 {
                audit.find("webhook_drops", &subject, "the time of the first", "a time", row.since);
            }
            if !known.contains(&row.subscription) {
                audit.find("webhook_drops", &subject, "its subscription", "a row", "none");
            }
            Ok(())
        },
    )
}
