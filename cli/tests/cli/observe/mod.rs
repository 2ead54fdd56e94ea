//! What a server tells of itself: OTLP, Prometheus, Grafana; and the live views of the command.
mod otlp;
mod prometheus;
mod terminal;
