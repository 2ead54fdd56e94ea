//! Figures of deliveries: `ojs.webhook.*` (extensions section 18).
use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

use super::records::DeliveryState;
use crate::metrics::attempts::Attempts;

/// Milliseconds of an attempt.
const MILLIS: &[f64] = &[5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 2_500.0, 5_000.0, 10_000.0, 30_000.0, 60_000.0];

/// What this process has sent since it started.
#[derive(Debug)]
pub(crate) struct WebhookFigures(Attempts);

impl Default for WebhookFigures {
    fn default() -> Self {
        Self(Attempts::new(MILLIS))
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
        self.0.add(outcome, took);
    }

    pub fn write(&self, encoder: &mut DescriptorEncoder<'_>, subscriptions: usize, dropped: u64) -> fmt::Result {
        let help = "Attempts to deliver an event, by what became of the delivery";
        self.0.write_counts(encoder, "ojs_webhook_delivery_count", help)?;
        let counters = [
            ("ojs_webhook_delivery_retry_count", "Failed attempts that are followed by another", self.0.count("failed")),
            ("ojs_webhook_dead_delivery_count", "Deliveries that were given up", self.0.count("dead")),
            ("ojs_webhook_dropped", "Events that became no delivery because too many deliveries waited", dropped),
        ];
        for (name, help, value) in counters {
            let mut counter = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            counter.encode_counter::<NoLabelSet, _, u64>(&value, None)?;
        }
        let help = "Time of attempts to deliver an event, milliseconds";
        self.0.write_durations(encoder, "ojs_webhook_delivery_duration_ms", help)?;
        let mut gauge = encoder.encode_descriptor("ojs_webhook_subscription_count", "Subscriptions", None, MetricType::Gauge)?;
        gauge.encode_gauge(&i64::try_from(subscriptions).unwrap_or(i64::MAX))
    }
}
