//! One file per family of commands.
pub mod about;
pub mod bulk;
pub mod codec_server;
pub mod crons;
pub mod dead_letter;
pub mod doctor;
pub mod events;
pub mod jobs;
pub mod keys;
pub mod maintenance;
pub mod migrate;
pub mod queues;
pub mod rate_limits;
pub mod relay;
pub mod stats;
pub mod workers;
pub mod workflows;
