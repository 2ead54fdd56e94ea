//! `ojs alerts`: rules for Prometheus. Each names the command that shows more.
use std::fmt::Write;

use clap::Args;
use ojs_engine::metric::find;

use crate::failure::Failure;
use crate::output::print;

const EXAMPLES: &str = "\
Example:
  ojs alerts > /etc/prometheus/rules/ojs.yml";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Alerts {
    /// The job of Prometheus that scrapes the servers: its absence is an alert.
    #[arg(long, value_name = "NAME", default_value = "ojs")]
    job: String,
}

/// One rule.
struct Rule {
    name: &'static str,
    /// The expression. Between « and » stands the name of a metric in the table.
    query: &'static str,
    lasting: &'static str,
    severity: &'static str,
    summary: &'static str,
    command: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        name: "OjsServerAway",
        query: "absent(up{job=\"JOB\"} == 1)",
        lasting: "2m",
        severity: "critical",
        summary: "No job server answers Prometheus.",
        command: "ojs doctor --only server",
    },
    Rule {
        name: "OjsJobsWaitLong",
        query: "histogram_quantile(0.95, sum by (le, queue) (rate(«ojs_job_queue_time_seconds»[10m]))) > 300",
        lasting: "10m",
        severity: "warning",
        summary: "Jobs of queue {{ $labels.queue }} wait for more than five minutes.",
        command: "ojs doctor --only queue",
    },
    Rule {
        name: "OjsJobsWithoutWorkers",
        query: "max by (queue) («ojs_queue_depth»{state=\"available\"}) > 0 and on () max(«ojs_workers_active») == 0",
        lasting: "10m",
        severity: "critical",
        summary: "Jobs of queue {{ $labels.queue }} wait, and no worker is alive.",
        command: "ojs doctor --only queue,worker",
    },
    Rule {
        name: "OjsFailuresRise",
        query: "sum by (queue, type) (increase(«ojs_job_failed»[15m])) > 10 and \
                sum by (queue, type) (rate(«ojs_job_failed»[15m])) > 3 * sum by (queue, type) (rate(«ojs_job_failed»[1d]))",
        lasting: "5m",
        severity: "warning",
        summary: "Jobs of type {{ $labels.type }} fail for good three times as often as they did today.",
        command: "ojs doctor --only failures",
    },
    Rule {
        name: "OjsDeadLettersGrow",
        query: "max(«ojs_dead_letter_total») - max(«ojs_dead_letter_total» offset 1h) > 100",
        lasting: "5m",
        severity: "warning",
        summary: "There are 100 dead letters more than an hour ago.",
        command: "ojs dead-letter list",
    },
    Rule {
        name: "OjsWorkersStale",
        query: "max(«ojs_workers_stale») > 0",
        lasting: "5m",
        severity: "warning",
        summary: "Workers have stopped sending heartbeats.",
        command: "ojs doctor --only worker",
    },
    Rule {
        name: "OjsSweeperLate",
        query: "max(«ojs_sweeper_lag_seconds») > 5",
        lasting: "5m",
        severity: "warning",
        summary: "Schedules, retries and leases are seconds late.",
        command: "ojs doctor --only store",
    },
    Rule {
        name: "OjsStoreErrors",
        query: "sum(increase(«ojs_store_errors»[5m])) + sum(increase(«ojs_store_panics»[5m])) > 0",
        lasting: "1m",
        severity: "critical",
        summary: "The store fails.",
        command: "ojs doctor --only store,server",
    },
    Rule {
        name: "OjsEventsLost",
        query: "sum(increase(«ojs_webhook_dropped»[15m])) > 0",
        lasting: "1m",
        severity: "warning",
        summary: "Events became no delivery of a webhook: an endpoint is too slow.",
        command: "ojs doctor --only flow",
    },
    Rule {
        name: "OjsTrainHeld",
        query: "max(«ojs_train_held») > 0",
        lasting: "1h",
        severity: "warning",
        summary: "A train has been held for an hour.",
        command: "ojs doctor --only flow",
    },
    Rule {
        name: "OjsTenantNoisy",
        query: "max by (tenant_id) («ojs_tenant_queue_depth») >= 100 and max by (tenant_id) («ojs_tenant_queue_depth») > 10 * \
                scalar(quantile(0.5, max by (tenant_id) («ojs_tenant_queue_depth»)))",
        lasting: "10m",
        severity: "warning",
        summary: "Ten times as many jobs of tenant {{ $labels.tenant_id }} wait as of half the tenants.",
        command: "ojs tenants noisy",
    },
    Rule {
        name: "OjsFilesRunOut",
        query: "max by (instance) («process_open_fds» / «process_max_fds») > 0.8",
        lasting: "5m",
        severity: "warning",
        summary: "Server {{ $labels.instance }} will soon refuse connections.",
        command: "ojs doctor --only server",
    },
];

/// Prints the rules.
///
/// # Errors
/// When they cannot be written.
pub fn run(command: &Alerts) -> Result<(), Failure> {
    print(text(&command.job).trim_end())
}

fn text(job: &str) -> String {
    let mut out = String::from("groups:\n  - name: ojs\n    rules:\n");
    for rule in RULES {
        let query = named(rule.query).replace("JOB", &job.replace(['"', '\\', '\''], ""));
        let _ = write!(
            out,
            "      - alert: {}\n        expr: '{query}'\n        for: {}\n        labels:\n          severity: {}\n        annotations:\n          \
             summary: '{}'\n          description: 'Look with `{}`.'\n",
            rule.name, rule.lasting, rule.severity, rule.summary, rule.command
        );
    }
    out
}

/// Names of metrics as `/metrics` writes them.
fn named(query: &str) -> String {
    let mut out = String::new();
    for (number, part) in query.split(['«', '»']).enumerate() {
        match find(part) {
            Some(metric) if number % 2 == 1 => out.push_str(&metric.sample()),
            _ => out.push_str(part),
        }
    }
    out
}
