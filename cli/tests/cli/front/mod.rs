//! `ojs server --ui-server`: the page in front of another server.
mod keys;
mod other;
mod process;
mod refusals;
