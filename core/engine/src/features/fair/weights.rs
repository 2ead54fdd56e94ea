//! Weights of keys: how they are read, kept and looked up.
use std::collections::BTreeMap;
use std::sync::Arc;

use ojs_model::{OjsError, envelope};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::error::{Result, StoreError};
use crate::store::record::{Kept, Object};

/// Largest weight. A key that has jobs is served at least once while every other one is served its weight.
pub const MAX_WEIGHT: i64 = 1_000;
/// Most keys of one queue with a weight of their own: every connection keeps them in memory.
pub const MAX_WEIGHTS: usize = 100;

/// Keys made of names lie from here on; those of tenants, which are numbered from 0, below.
const NAMED: i64 = 1 << 61;
/// Keys of the same name are this far apart for two tenants that follow each other.
const APART: i64 = 0x1f3d_5b79_97b5_d3f1;

/// The key of the jobs of a tenant.
#[must_use]
pub(crate) fn key_of_tenant(tenant: i64) -> i64 {
    tenant.saturating_add(1)
}

/// The key of the jobs of a tenant that name this `fairness_key`. Two names have the same key with a probability of
/// 2^-61; they share one line then.
#[must_use]
pub(crate) fn key_of_name(tenant: i64, name: &str) -> i64 {
    NAMED | number_of(name).wrapping_add(tenant.wrapping_mul(APART)) & (NAMED - 1)
}

/// What a name is without its tenant; `None` for the key of a tenant.
#[must_use]
fn name_number(key: i64, tenant: i64) -> Option<i64> {
    (key >= NAMED).then(|| key.wrapping_sub(tenant.wrapping_mul(APART)) & (NAMED - 1))
}

/// A number that all nodes and versions make of a name.
fn number_of(name: &str) -> i64 {
    let digest = Sha256::digest(name.as_bytes());
    digest.iter().take(8).fold(0_i64, |number, byte| number << 8 | i64::from(*byte)) & (NAMED - 1)
}

/// Weights by the id of a tenant or the name of a key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Weights {
    by_name: BTreeMap<String, i64>,
    by_number: BTreeMap<i64, i64>,
}

impl Weights {
    /// Reads `{"acme": 4, "initech": 1}`.
    ///
    /// # Errors
    /// 400 that names the member which is no such name or weight.
    pub fn parse(object: &Map<String, Value>) -> std::result::Result<Self, OjsError> {
        if object.len() > MAX_WEIGHTS {
            let message =
                format!("weights has {} members; the limit is {MAX_WEIGHTS}. A tenant can have fairness_weight.", object.len());
            return Err(OjsError::invalid_field("weights", message).with_details(json!({"field": "weights", "max": MAX_WEIGHTS})));
        }
        let mut weights = Self::default();
        for (name, value) in object {
            let field = format!("weights.{name}");
            envelope::check_tenant(&field, name)?;
            let weight = weight(&field, value)?;
            weights.by_number.insert(number_of(name), weight);
            weights.by_name.insert(name.clone(), weight);
        }
        Ok(weights)
    }

    /// The weight of a tenant.
    #[must_use]
    pub fn of_tenant(&self, id: &str) -> Option<i64> {
        self.by_name.get(id).copied()
    }

    /// The weight of a key that is made of a name; `None` for the key of a tenant as well.
    pub(crate) fn of_key(&self, key: i64, tenant: i64) -> Option<i64> {
        self.by_number.get(&name_number(key, tenant)?).copied()
    }

    /// The weights by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64)> {
        self.by_name.iter().map(|(name, weight)| (name.as_str(), *weight))
    }

    /// The weights as they are shown.
    #[must_use]
    pub fn to_value(&self) -> Value {
        json!(self.by_name)
    }
}

/// A weight of a request.
///
/// # Errors
/// 400 that names the field.
pub(crate) fn weight(field: &str, value: &Value) -> std::result::Result<i64, OjsError> {
    let weight = value.as_i64().filter(|weight| (1..=MAX_WEIGHT).contains(weight));
    weight.ok_or_else(|| {
        OjsError::invalid_field(field, format!("{field} must be a whole number from 1 to {MAX_WEIGHT}, got {value}."))
    })
}

/// Weights as a store keeps them. While they cannot be read, all keys have the same weight.
pub type StoredWeights = Kept<Arc<Weights>>;

impl Object for Arc<Weights> {
    fn read(object: &Map<String, Value>) -> std::result::Result<Self, OjsError> {
        Weights::parse(object).map(Self::new)
    }

    fn written(&self) -> Value {
        self.to_value()
    }
}

impl StoredWeights {
    /// The weights.
    ///
    /// # Errors
    /// [`StoreError::Failed`] when they cannot be read.
    pub fn get(&self, queue: &str) -> Result<&Weights> {
        self.known().ok_or_else(|| {
            let set = format!("set them anew with PUT /ojs/v1/admin/queues/{queue}/fairness");
            StoreError::Failed(format!("the weights of queue '{queue}' cannot be read: {set}"))
        })
    }

    /// The weights, as far as they can be read.
    #[must_use]
    pub fn known(&self) -> Option<&Weights> {
        match self {
            Self::Set(weights) => Some(weights),
            Self::None | Self::Unreadable(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::record::{Cell, Field};

    fn parse(value: &Value) -> std::result::Result<Weights, OjsError> {
        Weights::parse(value.as_object().unwrap())
    }

    #[test]
    fn weights_are_found_by_tenant_and_by_the_name_of_a_key_of_any_tenant() {
        let weights = parse(&json!({"acme": 4, "_default": 2, "user:7": 3})).unwrap();
        assert_eq!((weights.of_tenant("acme"), weights.of_tenant("_default"), weights.of_tenant("b")), (Some(4), Some(2), None));
        for tenant in [0, 1, 2, 1 << 40] {
            assert_eq!(weights.of_key(key_of_name(tenant, "user:7"), tenant), Some(3));
            assert_eq!(weights.of_key(key_of_name(tenant, "user:8"), tenant), None);
            assert_eq!(weights.of_key(key_of_tenant(tenant), tenant), None);
        }
        assert_ne!(key_of_name(1, "user:7"), key_of_name(2, "user:7"), "tenants are apart");
        assert_eq!(parse(&weights.to_value()).unwrap(), weights);
    }

    #[test]
    fn keys_of_names_and_of_tenants_do_not_meet_and_leave_room_for_the_next_number() {
        for name in ["a", "b", "user:7"] {
            for tenant in [0, 1, i64::from(u32::MAX)] {
                assert!((NAMED..NAMED * 2).contains(&key_of_name(tenant, name)));
                assert!((1..NAMED).contains(&key_of_tenant(tenant)));
            }
        }
        assert_eq!(number_of("user:7"), 53_418_322_624_172_574, "the same on every node and in every version");
    }

    #[test]
    fn faults_name_their_member_and_a_damaged_text_is_kept() {
        let many: Map<String, Value> = (0..=MAX_WEIGHTS).map(|at| (format!("t{at}"), json!(1))).collect();
        for (wrong, field) in [
            (json!({"a": 0}), "weights.a"),
            (json!({"a": 1.5}), "weights.a"),
            (json!({"a": MAX_WEIGHT + 1}), "weights.a"),
            (json!({"": 1}), "weights."),
            (Value::Object(many), "weights"),
        ] {
            assert_eq!(parse(&wrong).unwrap_err().details.unwrap()["field"], field);
        }
        let damaged = <StoredWeights as Field>::read(Cell::text("{\"a\":")).unwrap();
        assert!(damaged.get("q").unwrap_err().to_string().contains("q/fairness"));
        assert_eq!(damaged.cell(), Cell::text("{\"a\":"));
    }
}
