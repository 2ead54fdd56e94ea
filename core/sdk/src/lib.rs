//! Open Job Spec SDK for Rust.
#![forbid(unsafe_code)]

pub mod dispatch;
