//! Rules that bind two extensions (extension interactions, section 16): each requirement is one test, named after its
//! id, over a real socket, on every store. Requirements that bind the SDK run its client and its worker as well.
//!
//! EI-002 and EI-R005 stand with the logs and spans of each language, EI-R002 with the scheduling of retries.
mod cron;
mod dead_letters;
mod encryption;
#[allow(dead_code, reason = "each file of tests uses a part of it")]
#[path = "../../../core/engine/tests/store/endpoint.rs"]
mod endpoint;
mod limits;
mod order;
#[path = "../../../core/sdk/tests/support/recorded.rs"]
mod recorded;
mod shutdown;
mod tenants;
mod versions;
mod world;
