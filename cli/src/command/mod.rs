//! One file per family of commands.
pub mod about;
pub mod dead_letter;
pub mod jobs;
pub mod queues;
pub mod workers;
