//! Ruby glue: convert and delegate. No policy lives here; the package users see is `/ruby`.
//!
//! Two rules, kept in [`gate`]: whatever can wait runs with the GVL released and can be interrupted (Ctrl-C, `Thread#raise`,
//! `Timeout`), and no thread of the core ever enters Ruby. Ruby threads come and pull.
#![deny(unsafe_code)]
#![allow(missing_docs, reason = "nothing is public but the entry that magnus writes")]

use magnus::{Error, Module, Object, Ruby, function, method};

mod connection;
mod gate;
mod logs;
mod outbox;
mod server;
mod text;
mod transport;
mod worker;

use connection::Connection;
use outbox::Relay;
use server::Server;
use transport::HostTransport;
use worker::Worker;

#[magnus::init]
fn init(ruby: &Ruby) -> Result<(), Error> {
    let native = ruby.define_module("OJS")?.define_module("Native")?;
    native.const_set("VERSION", env!("CARGO_PKG_VERSION"))?;
    let object = ruby.class_object();

    let class = native.define_class("Connection", object)?;
    class.define_singleton_method("new", function!(Connection::new, 2))?;
    class.define_singleton_method("over", function!(Connection::over, 1))?;
    class.define_method("call", method!(Connection::call, 4))?;
    class.define_method("of_tenant", method!(Connection::of_tenant, 1))?;
    class.define_method("encrypted", method!(Connection::encrypted, 1))?;
    class.define_method("decrypted", method!(Connection::decrypted, 1))?;
    class.define_method("close", method!(Connection::close, 0))?;
    class.define_method("closed?", method!(Connection::closed, 0))?;

    let class = native.define_class("HostTransport", object)?;
    class.define_singleton_method("new", function!(HostTransport::new, 0))?;
    class.define_method("pull", method!(HostTransport::pull, 1))?;
    class.define_method("reply", method!(HostTransport::reply, 3))?;
    class.define_method("fail", method!(HostTransport::fail, 2))?;
    class.define_method("close", method!(HostTransport::close, 0))?;

    let class = native.define_class("Worker", object)?;
    class.define_singleton_method("new", function!(Worker::new, 2))?;
    class.define_method("start", method!(Worker::start, 0))?;
    class.define_method("id", method!(Worker::id, 0))?;
    class.define_method("turn", method!(Worker::turn, 4))?;
    class.define_method("step", method!(Worker::step, 2))?;
    class.define_method("complete", method!(Worker::complete, 1))?;
    class.define_method("cancelled", method!(Worker::cancelled, 1))?;
    class.define_method("heartbeat", method!(Worker::heartbeat, 1))?;
    class.define_method("progress", method!(Worker::progress, 4))?;
    class.define_method("save", method!(Worker::save, 3))?;
    class.define_method("saved", method!(Worker::saved, 2))?;
    class.define_method("quiet", method!(Worker::quiet, 0))?;
    class.define_method("resume", method!(Worker::resume, 0))?;
    class.define_method("stop", method!(Worker::stop, 1))?;
    class.define_method("wait", method!(Worker::wait, 1))?;
    class.define_method("phase", method!(Worker::phase, 0))?;
    class.define_method("own?", method!(Worker::is_own, 0))?;
    class.define_method("held", method!(Worker::held, 0))?;

    let class = native.define_class("Server", object)?;
    class.define_singleton_method("new", function!(Server::new, 5))?;
    class.define_method("url", method!(Server::url, 0))?;
    class.define_method("stop", method!(Server::stop, 0))?;

    let class = native.define_class("Relay", object)?;
    class.define_singleton_method("new", function!(Relay::new, 3))?;
    class.define_method("wake", method!(Relay::wake, 0))?;
    class.define_method("status", method!(Relay::status, 0))?;
    class.define_method("stop", method!(Relay::stop, 1))?;

    native.define_singleton_method("outbox_migration", function!(outbox::migration, 2))?;
    native.define_singleton_method("outbox_staged_query", function!(outbox::staged_query, 3))?;
    native.define_singleton_method("same_database_step", function!(outbox::same_database_step, 1))?;
    native.define_singleton_method("fake_recorded", function!(outbox::fake_recorded, 3))?;
    native.define_singleton_method("fake_matching", function!(outbox::fake_matching, 2))?;
    native.define_singleton_method("outbox_notify", function!(outbox::notify, 0))?;
    native.define_singleton_method("outbox_stage", function!(outbox::stage, 4))?;
    native.define_singleton_method("outbox_stage_in_engine", function!(outbox::stage_in_engine, 2))?;
    native.define_singleton_method("environment", function!(connection::environment, 1))?;
    native.define_singleton_method("follow_events", function!(connection::follow_events, 1))?;
    native.define_singleton_method("read_command", function!(server::read_command, 1))?;
    native.define_singleton_method("set_job_defaults", function!(text::set_job_defaults, 2))?;
    native.define_singleton_method("verify_webhook", function!(text::verify_webhook, 2))?;
    native.define_singleton_method("completed_job", function!(text::completed_job, 1))?;
    native.define_singleton_method("version_changes", function!(text::version_changes, 3))?;
    native.define_singleton_method("duration_text", function!(text::duration_text, 1))?;
    native.define_singleton_method("duration_seconds", function!(text::duration_seconds, 1))?;
    native.define_singleton_method("unknown_name", function!(text::unknown_name, 4))?;
    native.define_singleton_method("time_after", function!(text::time_after, 1))?;
    native.define_singleton_method("error_of", function!(text::error_of, 2))?;
    native.define_singleton_method("item_error", function!(text::item_error, 1))?;
    native.define_singleton_method("pull_logs", function!(logs::pull_logs, 2))?;
    native.define_singleton_method("log_level=", function!(logs::set_log_level, 1))?;
    Ok(())
}
