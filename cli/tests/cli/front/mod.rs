//! `ojs server --ui-server`: the page in front of another server.
mod front;
mod keys;
mod other;
mod refusals;
