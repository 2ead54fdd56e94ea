//! The real server, spoken to byte by byte: what it must refuse, what it must tolerate, and that it is well afterwards.
mod attacks;
mod bodies;
mod bulk;
mod connections;
mod dialects;
mod encrypted;
mod fields;
mod http;
mod interop;
mod official;
mod progress;
mod relays;
mod sizes;
mod statements;
mod target;
