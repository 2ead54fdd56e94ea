//! What a tenant may use.
use ojs_model::rate_limit::Window;
use ojs_model::{OjsError, duration};
use serde_json::{Map, Value, json};

use crate::error::Result;
use crate::features::fair::records::weight;
use crate::store::record::{Kept, Object};

/// The literal code of a refusal, as the extension prints it.
pub const LIMIT_EXCEEDED: &str = "TENANT_LIMIT_EXCEEDED";

/// Limits of a tenant. What is `None` is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quota {
    /// Most jobs active at a time; 0 lets nothing start.
    pub max_concurrency: Option<u64>,
    /// Most jobs stored within a period.
    pub max_enqueue_rate: Option<Window>,
    /// Most jobs that wait, in all queues together: available, scheduled, retryable and pending ones.
    pub max_queue_depth: Option<u64>,
    /// Most jobs that are scheduled.
    pub max_scheduled: Option<u64>,
    /// How often it is served while a tenant of weight 1 is served once, in queues that tenants share; 1 when it is
    /// `None`. It limits nothing.
    pub fairness_weight: Option<i64>,
}

/// Names of the members, for messages.
const NAMES: &str = "max_concurrency, max_enqueue_rate, max_queue_depth, max_scheduled and fairness_weight";

impl Quota {
    /// Reads limits: an object whose members may be left out or `null`.
    ///
    /// # Errors
    /// 400 that names the member that is not known, or is not such a number.
    pub fn parse(object: &Map<String, Value>) -> std::result::Result<Self, OjsError> {
        let mut quota = Self::default();
        for (name, value) in object.iter().filter(|(_, value)| !value.is_null()) {
            match name.as_str() {
                "max_concurrency" => quota.max_concurrency = Some(whole(name, value)?),
                "max_enqueue_rate" => quota.max_enqueue_rate = Some(rate(value)?),
                "max_queue_depth" => quota.max_queue_depth = Some(whole(name, value)?),
                "max_scheduled" => quota.max_scheduled = Some(whole(name, value)?),
                "fairness_weight" => quota.fairness_weight = Some(weight(name, value)?),
                _ => return Err(OjsError::invalid_field(name, format!("{name} is not a limit of tenants: use {NAMES}."))),
            }
        }
        Ok(quota)
    }

    /// The limits as they are shown; `null` for what is not limited.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!({
            "max_concurrency": self.max_concurrency, "max_enqueue_rate": self.max_enqueue_rate.map(Window::to_value),
            "max_queue_depth": self.max_queue_depth, "max_scheduled": self.max_scheduled,
            "fairness_weight": self.fairness_weight,
        })
    }
}

fn whole(name: &str, value: &Value) -> std::result::Result<u64, OjsError> {
    let number = value.as_u64().filter(|number| *number <= ojs_model::limits::MAX_INTEGER);
    number.ok_or_else(|| OjsError::invalid_field(name, format!("{name} must be a whole number of at least 0, got {value}.")))
}

fn rate(value: &Value) -> std::result::Result<Window, OjsError> {
    let fault = |what: &str| {
        let message = format!("max_enqueue_rate must be an object like {{\"limit\": 100, \"period\": \"PT1S\"}}: {what}.");
        OjsError::invalid_field("max_enqueue_rate", message)
    };
    let object = value.as_object().ok_or_else(|| fault("it is not an object"))?;
    if let Some(name) = object.keys().find(|name| !matches!(name.as_str(), "limit" | "period")) {
        return Err(fault(&format!("{name} is not known")));
    }
    let limit = object.get("limit").and_then(Value::as_u64).filter(|limit| (1..=ojs_model::limits::MAX_INTEGER).contains(limit));
    let limit = limit.ok_or_else(|| fault("limit must be a whole number of at least 1"))?;
    let period = object.get("period").and_then(Value::as_str).and_then(|text| duration::parse(text).ok());
    let period_ms = period.and_then(|period| u64::try_from(period.as_millis()).ok()).filter(|ms| *ms > 0);
    Ok(Window { limit, period_ms: period_ms.ok_or_else(|| fault("period must be an ISO 8601 duration above 0"))? })
}

/// Limits as a store keeps them.
pub type StoredQuota = Kept<Quota>;

impl Object for Quota {
    fn read(object: &Map<String, Value>) -> std::result::Result<Self, OjsError> {
        Self::parse(object)
    }

    fn written(&self) -> Value {
        self.to_value()
    }
}

impl StoredQuota {
    /// The limits that hold.
    ///
    /// # Errors
    /// [`StoreError::Failed`](crate::error::StoreError::Failed) when they cannot be read: nothing may be decided as if
    /// there were none.
    pub fn get(&self, tenant: &str) -> Result<Quota> {
        let message = || {
            let set = format!("set them anew with PUT /ojs/v1/admin/tenants/{tenant}/limits");
            format!("the limits of tenant '{tenant}' cannot be read: {set}")
        };
        Ok(self.readable(message)?.copied().unwrap_or_default())
    }
}

impl From<Quota> for StoredQuota {
    fn from(quota: Quota) -> Self {
        if quota == Quota::default() { Self::None } else { Self::Set(quota) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::record::{Cell, Field};

    fn parse(value: &Value) -> std::result::Result<Quota, OjsError> {
        Quota::parse(value.as_object().unwrap())
    }

    #[test]
    fn limits_that_are_shown_can_be_read_and_faults_name_their_member() {
        let quota = parse(&json!({"max_concurrency": 0, "max_enqueue_rate": {"limit": 3, "period": "PT1M"}})).unwrap();
        assert_eq!(quota.max_enqueue_rate, Some(Window { limit: 3, period_ms: 60_000 }));
        assert_eq!(parse(&quota.to_value()).unwrap(), quota);
        assert_eq!(StoredQuota::from(Quota::default()), StoredQuota::None);
        for (wrong, field) in [
            (json!({"max_concurrency": -1}), "max_concurrency"),
            (json!({"max_scheduled": 1.5}), "max_scheduled"),
            (json!({"fairness_weight": 0}), "fairness_weight"),
            (json!({"fairness_weight": 1001}), "fairness_weight"),
            (json!({"max_enqueue_rate": 5}), "max_enqueue_rate"),
            (json!({"max_enqueue_rate": {"limit": 1}}), "max_enqueue_rate"),
            (json!({"max_enqueue_rate": {"limit": 0, "period": "PT1S"}}), "max_enqueue_rate"),
            (json!({"max_jobs": 5}), "max_jobs"),
        ] {
            let error = parse(&wrong).unwrap_err();
            assert_eq!((error.status, error.details.unwrap()["field"].as_str()), (400, Some(field)), "{wrong}");
        }
    }

    #[test]
    fn a_text_that_is_damaged_is_a_fault_and_is_kept() {
        let read = |text: &str| <StoredQuota as Field>::read(Cell::text(text)).unwrap();
        let damaged = read("{\"max_concurrency\":");
        assert!(damaged.get("acme").unwrap_err().to_string().contains("acme/limits"));
        assert_eq!(
            read(&match damaged.cell() {
                Cell::Text(text) => text.to_string(),
                _ => String::new(),
            }),
            damaged
        );
        assert_eq!(read("").get("acme").unwrap(), Quota::default());
    }
}
