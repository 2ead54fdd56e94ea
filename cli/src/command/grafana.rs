//! `ojs grafana`: a dashboard for Grafana, made from the table of metrics.
use clap::Args;
use ojs_engine::metric::{Kind, METRICS, Metric};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::print;

const EXAMPLES: &str = "\
Examples:
  ojs grafana > dashboard.json      then: Dashboards, New, Import
  ojs grafana --title 'Jobs of the shop' > /etc/grafana/dashboards/shop.json";

/// Panels in a row.
const COLUMNS: u64 = 3;
/// Width of the grid of Grafana.
const WIDTH: u64 = 24;
/// Height of a panel.
const HEIGHT: u64 = 8;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Grafana {
    /// What the dashboard is called.
    #[arg(long, default_value = "Open Job Spec")]
    title: String,
    /// Where links of traces lead, with `{trace_id}` in it; shown as a link of the dashboard.
    #[arg(long, value_name = "URL")]
    trace_url: Option<String>,
}

/// Prints the dashboard.
///
/// # Errors
/// When it cannot be written.
pub fn run(command: &Grafana) -> Result<(), Failure> {
    print(&serde_json::to_string_pretty(&dashboard(command)).unwrap_or_default())
}

fn dashboard(command: &Grafana) -> Value {
    let (mut panels, mut y, mut id) = (Vec::new(), 0, 0);
    let mut sections: Vec<&str> = METRICS.iter().map(|metric| metric.section).collect();
    sections.dedup();
    for section in sections {
        id += 1;
        panels.push(json!({"id": id, "type": "row", "title": section, "collapsed": false, "gridPos": place(0, y, WIDTH, 1), "panels": []}));
        y += 1;
        let own: Vec<&Metric> = METRICS.iter().filter(|metric| metric.section == section).collect();
        for (metric, index) in own.iter().zip(0..) {
            id += 1;
            let (column, row) = (index % COLUMNS, index / COLUMNS);
            panels.push(panel(metric, id, place(column * (WIDTH / COLUMNS), y + row * HEIGHT, WIDTH / COLUMNS, HEIGHT)));
        }
        y += (own.len() as u64).div_ceil(COLUMNS) * HEIGHT;
    }
    let links: Vec<Value> = command.trace_url.iter().map(|url| json!({"title": "Traces", "type": "link", "url": url})).collect();
    json!({
        "title": command.title, "uid": "ojs", "schemaVersion": 39, "version": 1, "tags": ["ojs"], "timezone": "browser",
        "editable": true, "refresh": "30s", "time": {"from": "now-6h", "to": "now"}, "links": links, "panels": panels,
        "templating": {"list": [
            {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Data source"},
            {
                "name": "queue", "type": "query", "label": "Queue", "datasource": source(), "multi": true, "includeAll": true,
                "allValue": ".*", "query": "label_values(ojs_queue_depth, queue)", "refresh": 2,
                "current": {"text": "All", "value": "$__all"},
            },
        ]},
    })
}

fn source() -> Value {
    json!({"type": "prometheus", "uid": "${datasource}"})
}

fn place(x: u64, y: u64, width: u64, height: u64) -> Value {
    json!({"x": x, "y": y, "w": width, "h": height})
}

fn panel(metric: &Metric, id: u64, at: Value) -> Value {
    let targets: Vec<Value> = queries(metric)
        .into_iter()
        .zip(["A", "B"])
        .map(|((legend, query), name)| {
            let exemplars = metric.kind == Kind::Histogram;
            json!({"refId": name, "datasource": source(), "expr": query, "legendFormat": legend, "exemplar": exemplars})
        })
        .collect();
    let unit = match (metric.kind, metric.unit) {
        (Kind::Counter, _) => "ops",
        (_, "s") => "s",
        (_, "ms") => "ms",
        (_, "By") => "bytes",
        _ => "short",
    };
    json!({
        "id": id, "type": "timeseries", "title": metric.dotted, "datasource": source(), "gridPos": at, "targets": targets,
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
    })
}

/// What a panel asks Prometheus, each with the words of its legend.
fn queries(metric: &Metric) -> Vec<(String, String)> {
    let sample = metric.sample();
    let chosen = if metric.by.contains(&"queue") { "{queue=~\"$queue\"}" } else { "" };
    let legend = metric.by.iter().map(|label| format!("{{{{{label}}}}}")).collect::<Vec<_>>().join(" ");
    let by = |first: &[&str]| [first, metric.by].concat().join(", ");
    match metric.kind {
        Kind::Counter => vec![(legend, format!("sum by ({}) (rate({sample}{chosen}[$__rate_interval]))", by(&[])))],
        // Every server of one store shows the same figures: they are not added up. Those of the process are each
        // server's own.
        Kind::Gauge if sample.starts_with("process_") || sample.starts_with("ojs_process_") => {
            vec![("{{instance}}".to_owned(), format!("max by (instance) ({sample})"))]
        }
        Kind::Gauge => vec![(legend, format!("max by ({}) ({sample}{chosen})", by(&[])))],
        Kind::Histogram => ["0.5", "0.99"]
            .into_iter()
            .map(|share| {
                let rates = format!("sum by ({}) (rate({sample}{chosen}[$__rate_interval]))", by(&["le"]));
                (format!("p{} {legend}", share.trim_start_matches("0.")), format!("histogram_quantile({share}, {rates})"))
            })
            .collect(),
    }
}
