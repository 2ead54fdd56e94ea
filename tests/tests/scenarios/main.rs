//! What has gone wrong in other queues, with real processes. The number in a test's name is the number in the project's list of
//! failure scenarios; scenarios that need no process are tested in the engine's own suite.
mod bouncer;
mod disk;
mod image;
mod nodes;
mod outbox;
mod proxy;
mod servers;
mod workers;
