//! `ojs alerts` and `ojs grafana`, read by Prometheus' own tool and compared with what a server serves.
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use ojs_tests::ServerProcess;
use serde_json::Value;

use crate::common::says;

fn promtool(arguments: &[&str], file: &Path) -> String {
    let output =
        Command::new("promtool").args(arguments).arg(file).output().expect("promtool: run `scripts/setup.sh prometheus`");
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(output.status.success(), "{text}");
    text
}

/// Names of metrics in a query, as they are declared: without what samples add.
fn names(query: &str) -> Vec<String> {
    let name = regex_lite::Regex::new(r"\b(ojs|process)_[a-z_]+\b").unwrap();
    let found = name.find_iter(query).map(|found| found.as_str().to_owned());
    found.map(|name| name.trim_end_matches("_bucket").to_owned()).collect()
}

async fn served(server: &ServerProcess) -> BTreeSet<String> {
    let text = server.metrics().await;
    text.lines().filter_map(|line| Some(line.strip_prefix("# TYPE ")?.split_once(' ')?.0.to_owned())).collect()
}

#[tokio::test]
async fn prometheus_reads_the_rules_and_they_fire() {
    let server = ServerProcess::memory().await;
    let directory = tempfile::tempdir().unwrap();
    let rules = directory.path().join("ojs.yml");
    let text = says(&server, &["alerts", "--job", "shop"]).await;
    std::fs::write(&rules, &text).unwrap();
    assert!(promtool(&["check", "rules"], &rules).contains("12 rules found"));
    let known = served(&server).await;
    for line in text.lines().filter_map(|line| line.trim().strip_prefix("expr: ")) {
        for name in names(line) {
            assert!(known.contains(&name), "{name} is not served: {line}");
        }
    }
    let tests = directory.path().join("tests.yml");
    std::fs::write(
        &tests,
        "rule_files: [ojs.yml]\nevaluation_interval: 1m\ntests:\n  - interval: 1m\n    input_series:\n\
         \x20     - {series: 'up{job=\"shop\"}', values: '0x30'}\n      - {series: 'ojs_workers_stale', values: '0x5 2x30'}\n\
         \x20     - {series: 'ojs_workers_active', values: '0x40'}\n\
         \x20     - {series: 'ojs_queue_depth{queue=\"mail\",state=\"available\"}', values: '3x40'}\n    alert_rule_test:\n\
         \x20     - {eval_time: 1m, alertname: OjsServerAway, exp_alerts: []}\n\
         \x20     - {eval_time: 3m, alertname: OjsServerAway, exp_alerts: [{exp_labels: {severity: critical}, \
         exp_annotations: {summary: 'No job server answers Prometheus.', description: 'Look with `ojs doctor --only server`.'}}]}\n\
         \x20     - {eval_time: 5m, alertname: OjsWorkersStale, exp_alerts: []}\n\
         \x20     - {eval_time: 15m, alertname: OjsWorkersStale, exp_alerts: [{exp_labels: {severity: warning}, \
         exp_annotations: {summary: 'Workers have stopped sending heartbeats.', description: 'Look with `ojs doctor --only worker`.'}}]}\n\
         \x20     - {eval_time: 15m, alertname: OjsJobsWithoutWorkers, exp_alerts: [{exp_labels: {severity: critical, queue: mail}, \
         exp_annotations: {summary: 'Jobs of queue mail wait, and no worker is alive.', \
         description: 'Look with `ojs doctor --only queue,worker`.'}}]}\n",
    )
    .unwrap();
    assert!(promtool(&["test", "rules"], &tests).contains("SUCCESS"));
}

#[tokio::test]
async fn each_query_of_the_dashboard_is_read_and_asks_for_what_is_served() {
    let server = ServerProcess::memory().await;
    let dashboard: Value = serde_json::from_str(&says(&server, &["grafana", "--title", "Shop"]).await).unwrap();
    assert_eq!(dashboard["title"], "Shop");
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().into_iter().flatten());
    let queries: Vec<String> = targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect();
    let known = served(&server).await;
    let mut rules = String::from("groups:\n  - name: dashboard\n    rules:\n");
    let mut shown = BTreeSet::new();
    for (query, number) in queries.iter().zip(0..) {
        let asked = names(query);
        assert!(asked.len() == 1 && known.contains(&asked[0]), "{query} asks for what is not served");
        shown.extend(asked.into_iter().map(|name| name.trim_end_matches("_total").to_owned()));
        let query = query.replace("$__rate_interval", "5m").replace("$queue", ".*");
        rules.push_str(&format!("      - {{record: 'query_{number}', expr: '{query}'}}\n"));
    }
    let unseen: Vec<_> = known.iter().map(|name| name.trim_end_matches("_total")).filter(|name| !shown.contains(*name)).collect();
    assert_eq!(unseen, ["ojs_build_info"], "each metric has a panel");
    let places: BTreeSet<_> = panels.iter().map(|panel| panel["gridPos"].to_string()).collect();
    assert_eq!(places.len(), panels.len(), "no two panels lie on each other");
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("queries.yml");
    std::fs::write(&file, rules).unwrap();
    assert!(promtool(&["check", "rules"], &file).contains(&format!("{} rules found", queries.len())));
}
