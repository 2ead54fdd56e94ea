//! The figures of `/metrics` in the form of OTLP: the same table, the same counts, under their dotted names.
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::{HeaderName, HeaderValue, Request, Uri};
use ojs_engine::Engine;
use ojs_engine::metric::{Kind, METRICS, Metric as Known};
use opentelemetry_http::Bytes;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, InstrumentationScope, KeyValue, any_value};
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Gauge, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum,
    metric, number_data_point,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::Message;

use super::client::Client;
use super::settings;

/// Sends the figures of an engine.
#[derive(Clone)]
pub struct Sender {
    client: Client,
    endpoint: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
    resource: Resource,
    began: u64,
}

impl Sender {
    /// # Errors
    /// An endpoint or a header that cannot be used.
    pub fn new(client: Client, endpoint: &str, resource: opentelemetry_sdk::Resource) -> Result<Self, http::Error> {
        let mut headers = Vec::new();
        for (name, value) in settings::headers() {
            headers.push((name.parse::<HeaderName>()?, HeaderValue::try_from(value)?));
        }
        let attributes = resource.iter().map(|(key, value)| attribute(key.as_str(), &value.to_string())).collect();
        let resource = Resource { attributes, ..Resource::default() };
        Ok(Self { client, endpoint: endpoint.parse()?, headers, resource, began: now() })
    }

    /// Sends them again and again, until the server ends.
    pub async fn run(self, engine: Engine) {
        let mut ticks = tokio::time::interval(settings::interval());
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            ticks.tick().await;
            self.send(&engine).await;
        }
    }

    /// Sends them once. A failure is logged and not retried: the counts only grow, so the next request has them all.
    pub async fn send(&self, engine: &Engine) {
        let text = match engine.openmetrics().await {
            Ok(text) => text,
            Err(error) => return tracing::warn!(%error, "the figures could not be read"),
        };
        let body = request(&text, self.resource.clone(), self.began, now()).encode_to_vec();
        let mut message = Request::new(Bytes::from(body));
        *message.method_mut() = http::Method::POST;
        *message.uri_mut() = self.endpoint.clone();
        let headers = message.headers_mut();
        headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        headers.extend(self.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
        match self.client.send(message).await {
            Ok(answer) if answer.status().is_success() => {}
            Ok(answer) => tracing::warn!(status = answer.status().as_u16(), "the collector does not take the figures"),
            Err(error) => tracing::warn!(error = %error.without_url(), "the figures could not be sent"),
        }
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn attribute(key: &str, value: &str) -> KeyValue {
    let value = AnyValue { value: Some(any_value::Value::StringValue(value.to_owned())) };
    KeyValue { key: key.to_owned(), value: Some(value), ..KeyValue::default() }
}

/// One request with everything that the text has.
fn request(text: &str, resource: Resource, began: u64, at: u64) -> ExportMetricsServiceRequest {
    let samples = Samples::read(text);
    let metrics = METRICS.iter().filter_map(|known| converted(known, &samples, began, at)).collect();
    let scope = InstrumentationScope { name: "ojs".to_owned(), ..InstrumentationScope::default() };
    let scope_metrics = vec![ScopeMetrics { scope: Some(scope), metrics, ..ScopeMetrics::default() }];
    ExportMetricsServiceRequest {
        resource_metrics: vec![ResourceMetrics { resource: Some(resource), scope_metrics, ..ResourceMetrics::default() }],
    }
}

type Labels = Vec<(String, String)>;

/// Samples by name.
struct Samples<'t>(BTreeMap<&'t str, Vec<(Labels, f64)>>);

impl<'t> Samples<'t> {
    fn read(text: &'t str) -> Self {
        let mut samples: BTreeMap<&str, Vec<(Labels, f64)>> = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            // An exemplar comes after the value.
            let line = line.split_once(" # {").map_or(line, |(sample, _)| sample);
            let Some((series, value)) = line.rsplit_once(' ') else { continue };
            let (name, labels) = series.split_once('{').unwrap_or((series, ""));
            let Ok(value) = value.parse() else { continue };
            samples.entry(name).or_default().push((labels_of(labels), value));
        }
        Self(samples)
    }

    fn of(&self, name: &str) -> &[(Labels, f64)] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

/// `queue="a",type="b"}`
fn labels_of(text: &str) -> Labels {
    let (mut labels, mut rest) = (Vec::new(), text);
    while let Some((name, quoted)) = rest.split_once("=\"") {
        let (mut value, mut end, mut escaped) = (String::new(), quoted.len(), false);
        for (at, sign) in quoted.char_indices() {
            match (escaped, sign) {
                (true, 'n') => value.push('\n'),
                (true, other) => value.push(other),
                (false, '\\') => {}
                (false, '"') => {
                    end = at;
                    break;
                }
                (false, other) => value.push(other),
            }
            escaped = !escaped && sign == '\\';
        }
        labels.push((name.trim_start_matches(',').to_owned(), value));
        rest = quoted.get(end.saturating_add(1)..).unwrap_or_default();
    }
    labels
}

fn attributes(labels: &Labels) -> Vec<KeyValue> {
    labels.iter().map(|(name, value)| attribute(name, value)).collect()
}

fn converted(known: &Known, samples: &Samples<'_>, began: u64, at: u64) -> Option<Metric> {
    let points = |name: &str| -> Vec<NumberDataPoint> {
        let point = |(labels, value): &(Labels, f64)| NumberDataPoint {
            attributes: attributes(labels),
            start_time_unix_nano: began,
            time_unix_nano: at,
            value: Some(number_data_point::Value::AsDouble(*value)),
            ..NumberDataPoint::default()
        };
        samples.of(name).iter().map(point).collect()
    };
    let cumulative = AggregationTemporality::Cumulative as i32;
    let data = match known.kind {
        Kind::Counter => {
            let data_points = points(&known.sample());
            (!data_points.is_empty()).then_some(metric::Data::Sum(Sum {
                data_points,
                aggregation_temporality: cumulative,
                is_monotonic: true,
            }))
        }
        Kind::Gauge => {
            let data_points = points(known.name);
            (!data_points.is_empty()).then_some(metric::Data::Gauge(Gauge { data_points }))
        }
        Kind::Histogram => {
            let data_points = histograms(known.name, samples, began, at);
            (!data_points.is_empty())
                .then_some(metric::Data::Histogram(Histogram { data_points, aggregation_temporality: cumulative }))
        }
    };
    let (name, unit) = (known.dotted.to_owned(), known.unit.to_owned());
    data.map(|data| Metric { name, unit, data: Some(data), ..Metric::default() })
}

fn histograms(name: &str, samples: &Samples<'_>, began: u64, at: u64) -> Vec<HistogramDataPoint> {
    let mut buckets: BTreeMap<Labels, Vec<(f64, f64)>> = BTreeMap::new();
    for (labels, count) in samples.of(&format!("{name}_bucket")) {
        let bound =
            labels.iter().find(|(name, _)| name == "le").map_or(f64::NAN, |(_, bound)| bound.parse().unwrap_or(f64::INFINITY));
        let others = labels.iter().filter(|(name, _)| name != "le").cloned().collect();
        buckets.entry(others).or_default().push((bound, *count));
    }
    let sums = samples.of(&format!("{name}_sum"));
    let point = |(labels, mut cells): (Labels, Vec<(f64, f64)>)| {
        cells.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let sum = sums.iter().find(|(others, _)| *others == labels).map(|(_, sum)| *sum);
        let mut before = 0;
        let mut bucket_counts = Vec::with_capacity(cells.len());
        for (_, count) in &cells {
            let count = whole(*count);
            bucket_counts.push(count.saturating_sub(before));
            before = count;
        }
        HistogramDataPoint {
            attributes: attributes(&labels),
            start_time_unix_nano: began,
            time_unix_nano: at,
            count: before,
            sum,
            bucket_counts,
            explicit_bounds: cells.iter().map(|(bound, _)| *bound).filter(|bound| bound.is_finite()).collect(),
            ..HistogramDataPoint::default()
        }
    };
    buckets.into_iter().map(point).collect()
}

/// A count that was printed as a number.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts are whole and not negative")]
fn whole(count: f64) -> u64 {
    count.max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_becomes_points_with_the_same_figures() {
        let text = "# TYPE ojs_job_enqueued counter\nojs_job_enqueued_total{queue=\"a\\\"b\\n\",type=\"t\"} 3\n\
                    ojs_store_commit_seconds_sum 0.25\nojs_store_commit_seconds_count 3\n\
                    ojs_store_commit_seconds_bucket{le=\"0.1\"} 1\nojs_store_commit_seconds_bucket{le=\"0.5\"} 3 # {trace_id=\"x\"} 0.2\n\
                    ojs_store_commit_seconds_bucket{le=\"+Inf\"} 3\nojs_workers_active 2\n# EOF\n";
        let sent = request(text, Resource::default(), 1, 2);
        let metrics = &sent.resource_metrics[0].scope_metrics[0].metrics;
        let named =
            |name: &str| metrics.iter().find(|metric| metric.name == name).and_then(|metric| metric.data.clone()).unwrap();
        let metric::Data::Sum(sum) = named("ojs.job.enqueued") else { unreachable!("a counter") };
        assert!(sum.is_monotonic);
        assert_eq!(sum.data_points[0].value, Some(number_data_point::Value::AsDouble(3.0)));
        assert_eq!(sum.data_points[0].attributes[0], attribute("queue", "a\"b\n"));
        let metric::Data::Histogram(histogram) = named("ojs.store.commit.duration") else { unreachable!("a histogram") };
        let point = &histogram.data_points[0];
        assert_eq!(
            (point.count, point.sum, &*point.bucket_counts, &*point.explicit_bounds),
            (3, Some(0.25), &[1, 2, 0][..], &[0.1, 0.5][..])
        );
        let metric::Data::Gauge(gauge) = named("ojs.workers.active") else { unreachable!("a gauge") };
        assert_eq!(gauge.data_points.len(), 1);
    }
}
