//! The request of a delivery, and its id.
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ojs_model::json::push_text;
use ojs_model::limits::MAX_RESULT_BYTES;
use ojs_model::{JobId, Timestamp};

use super::records::EndpointRow;
use crate::kernel::job::JobView;
use crate::kernel::render;
use crate::outgoing::signed::Headers;
use crate::outgoing::{Bounds, Post};

/// How ids of deliveries begin on the wire.
const PREFIX: &str = "del_";
/// What requests of push delivery name themselves.
const USER_AGENT: &str = "OJS-Push/1.0";
/// Bytes of an answer that are read: a result, and what is beside it.
pub(super) const ANSWER_BYTES: usize = MAX_RESULT_BYTES + 64 * 1024;
/// Bytes of a body beside the text that the client has sent, as a rule.
const FRAME_BYTES: usize = 640;
/// Bits of an id that hold the lease token: what a UUID has behind its variant.
const LEASE_BITS: u128 = (1 << 62) - 1;

/// The id of the delivery of a claim. It holds the lease token of the claim, so every node recognises the delivery that
/// is current, without a table of deliveries.
pub(crate) fn delivery_id(now: Timestamp, lease: i64) -> String {
    let time = u128::from(now.as_millis().cast_unsigned()) & 0xffff_ffff_ffff;
    let lease = u128::from(lease.cast_unsigned()) & LEASE_BITS;
    let id = (time << 80) | (0x7 << 76) | (0b10 << 62) | lease;
    format!("{PREFIX}{}", JobId::from_bytes(id.to_be_bytes()))
}

/// The lease token of a delivery; `None` for what is no id of a delivery.
pub(crate) fn lease_of(delivery_id: &str) -> Option<i64> {
    let id: JobId = delivery_id.strip_prefix(PREFIX)?.parse().ok()?;
    i64::try_from(u128::from_be_bytes(*id.as_bytes()) & LEASE_BITS).ok()
}

/// One delivery: a job that is active under a lease, on its way to its endpoint.
#[derive(Debug)]
pub(crate) struct Delivery {
    /// Where it goes.
    pub(crate) endpoint: Arc<EndpointRow>,
    /// What is sent.
    pub(crate) job: JobView,
    /// The time of its claim, by the clock of the store.
    pub(crate) at: Timestamp,
}

impl Delivery {
    /// Its id.
    pub(crate) fn id(&self) -> String {
        delivery_id(self.at, self.job.row.lease)
    }

    /// The job as a fetch hands it out.
    pub(crate) fn envelope(&self) -> String {
        let mut job = String::with_capacity(1_024);
        render::leased(&mut job, &self.job);
        job
    }

    /// Its request, stamped and signed.
    pub(crate) fn post(&self) -> Post {
        let id = self.id();
        let room = FRAME_BYTES + self.job.body.text.len();
        let body = body(&self.endpoint, &id, room, |body| render::leased(body, &self.job));
        post(&self.endpoint, &id, self.job.row.id, body, self.at)
    }
}

/// The body of a delivery, in the form of "Serverless Integration", section 2.2, around its job, which `job` appends.
/// There is room for so many bytes at first.
pub(crate) fn body(endpoint: &EndpointRow, id: &str, room: usize, job: impl FnOnce(&mut String)) -> String {
    let mut body = String::with_capacity(room);
    body.push_str("{\"job\":");
    job(&mut body);
    push_text(&mut body, "worker_id", &endpoint.worker_id());
    push_text(&mut body, "delivery_id", id);
    body.push('}');
    body
}

/// A request to an endpoint, about a job.
pub(crate) fn post(endpoint: &EndpointRow, id: &str, job: JobId, body: String, now: Timestamp) -> Post {
    let timeout = Duration::from_millis(u64::try_from(endpoint.timeout_ms).unwrap_or(0));
    let mut headers = Headers::signed(id, body.as_bytes(), &endpoint.secrets(now.as_millis()), now);
    headers.add("user-agent", USER_AGENT);
    // A receiver may see a delivery again within this time at most: an attempt and its lease.
    headers.add("x-ojs-idempotency-window", timeout.saturating_mul(2).as_secs().max(1));
    headers.add("x-ojs-job-id", job);
    // A signed body goes to the registered address only, so no redirect is followed.
    let bounds = Bounds { timeout: Some(timeout), answer_bytes: ANSWER_BYTES, redirects: 0 };
    Post { url: endpoint.endpoint.clone(), headers: headers.finish(), body: Bytes::from(body), bounds, aws: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_holds_its_lease_and_is_a_uuid() {
        for lease in [0, 63, 1 << 24, (1 << 62) - 1] {
            let id = delivery_id(Timestamp::from_millis(1_767_225_600_000), lease);
            assert_eq!(lease_of(&id), Some(lease), "{id}");
        }
        assert_eq!(delivery_id(Timestamp::from_millis(0), 1), "del_00000000-0000-7000-8000-000000000001");
        for wrong in ["", "del_", "del_1", "00000000-0000-7000-8000-000000000001"] {
            assert_eq!(lease_of(wrong), None, "{wrong}");
        }
    }
}
