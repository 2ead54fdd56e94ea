//! The Rust examples of the guide, as documentation tests.
#![allow(missing_docs)]

#[doc = include_str!("../../docs/guide/getting-started.md")]
pub struct GettingStarted;

#[doc = include_str!("../../docs/guide/tracing.md")]
pub struct Tracing;

#[doc = include_str!("../../docs/guide/values.md")]
pub struct Values;
