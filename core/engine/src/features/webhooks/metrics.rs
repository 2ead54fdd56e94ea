//! Figures of deliveries: `ojs.webhook.*` (extensions section 18).
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::records::DeliveryState;
use crate::metrics::figures::{Histogram, family, write};

/// Milliseconds of an attempt.
const MILLIS: &[f64] = &[5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 2_500.0, 5_000.0, 10_000.0, 30_000.0, 60_000.0];

/// What this process has sent since it started.
#[derive(Debug)]
pub(crate) struct WebhookFigures {
    attempts: BTreeMap<&'static str, u64>,
    took: Histogram,
}

impl Default for WebhookFigures {
    fn default() -> Self {
        Self { attempts: BTreeMap::new(), took: Histogram::new(MILLIS) }
    }
}

impl WebhookFigures {
    /// An attempt has ended, and the delivery is in this state now.
    pub fn add(&mut self, state: DeliveryState, took: Duration) {
        let outcome = match state {
            DeliveryState::Delivered => "delivered",
            DeliveryState::Dead => "dead",
            DeliveryState::Pending | DeliveryState::Sending => "failed",
        };
        *self.attempts.entry(outcome).or_default() += 1;
        self.took.add(took.as_secs_f64() * 1000.0);
    }

    pub fn write(&self, encoder: &mut DescriptorEncoder<'_>, subscriptions: usize, dropped: u64) -> fmt::Result {
        let attempts = self.attempts.iter().map(|(outcome, count)| ([("outcome", *outcome)], *count));
        let help = "Attempts to deliver an event, by what became of the delivery";
        family!(encoder, Counter, "ojs_webhook_delivery_count", help, attempts, |count, into| {
            into.encode_counter::<NoLabelSet, _, u64>(&count, None)
        });
        let count = |outcome: &str| self.attempts.get(outcome).copied().unwrap_or_default();
        let counters = [
            ("ojs_webhook_delivery_retry_count", "Failed attempts that are followed by another", count("failed")),
            ("ojs_webhook_dead_delivery_count", "Deliveries that were given up", count("dead")),
            ("ojs_webhook_dropped", "Events that became no delivery because too many deliveries waited", dropped),
        ];
        for (name, help, value) in counters {
            let mut counter = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            counter.encode_counter::<NoLabelSet, _, u64>(&value, None)?;
        }
        let help = "Time of attempts to deliver an event, milliseconds";
        let mut took = encoder.encode_descriptor("ojs_webhook_delivery_duration_ms", help, None, MetricType::Histogram)?;
        write(&mut took, &self.took)?;
        let mut gauge = encoder.encode_descriptor("ojs_webhook_subscription_count", "Subscriptions", None, MetricType::Gauge)?;
        gauge.encode_gauge(&i64::try_from(subscriptions).unwrap_or(i64::MAX))
    }
}
