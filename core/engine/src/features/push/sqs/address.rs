//! The address of a queue, as an endpoint names it.
use http::Uri;

/// What stands before the URL of a queue in an endpoint.
const PREFIX: &str = "sqs:";
/// Longest name of a queue, bytes; the suffix of FIFO queues counts.
const MAX_NAME: usize = 80;
/// How the names of queues end that keep an order.
const FIFO: &str = ".fifo";

/// A queue of Amazon SQS, or of a server that speaks its protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QueueAddress {
    /// `https://sqs.REGION.amazonaws.com/ACCOUNT/NAME`.
    pub(crate) url: String,
    /// The region that the name of the host contains.
    pub(crate) region: Option<String>,
}

impl QueueAddress {
    /// Reads what a client wrote: `sqs:` before a URL or an ARN, an ARN, or the URL of a queue of Amazon.
    ///
    /// `None` for an address that is no queue; the error says what is wrong with one that is meant as a queue.
    pub(crate) fn read(text: &str) -> Option<Result<Self, String>> {
        let named = text.strip_prefix(PREFIX);
        let meant = named.unwrap_or(text);
        if meant.starts_with("arn:") {
            return Some(Self::of_arn(meant).ok_or_else(|| format!("'{meant}' is no ARN of a queue")));
        }
        if named.is_none() && !is_amazon(text) {
            return None;
        }
        Some(Self::of_url(meant))
    }

    /// The queue of an endpoint that was stored; `None` for an endpoint that is no queue.
    pub(crate) fn stored(endpoint: &str) -> Option<Self> {
        let url = endpoint.strip_prefix(PREFIX)?;
        Some(Self { url: url.to_owned(), region: region_of(host(url)?.as_str()) })
    }

    /// Whether an endpoint that was stored is a queue.
    pub(crate) fn is_stored(endpoint: &str) -> bool {
        endpoint.starts_with(PREFIX)
    }

    /// How it is stored.
    pub(crate) fn endpoint(&self) -> String {
        format!("{PREFIX}{}", self.url)
    }

    /// Where requests about it go: the root of its server.
    pub(crate) fn service(&self) -> String {
        let parts: Vec<&str> = self.url.splitn(4, '/').take(3).collect();
        format!("{}/", parts.join("/"))
    }

    /// Whether it keeps the order of message groups.
    pub(crate) fn is_fifo(&self) -> bool {
        self.url.ends_with(FIFO)
    }

    fn of_url(url: &str) -> Result<Self, String> {
        let host = host(url).ok_or_else(|| format!("'{url}' is no URL"))?;
        let path: Vec<&str> = url.split('/').skip(3).collect();
        match path.as_slice() {
            [_, .., name] if is_name(name) => Ok(Self { url: url.to_owned(), region: region_of(&host) }),
            _ => Err("the URL of a queue ends in /ACCOUNT/NAME".to_owned()),
        }
    }

    /// `arn:aws:sqs:REGION:ACCOUNT:NAME`.
    fn of_arn(arn: &str) -> Option<Self> {
        let parts: Vec<&str> = arn.split(':').collect();
        let [_, partition, "sqs", region, account, name] = parts.as_slice() else { return None };
        let domain = match *partition {
            "aws" | "aws-us-gov" => "amazonaws.com",
            "aws-cn" => "amazonaws.com.cn",
            _ => return None,
        };
        let is_account = account.len() == 12 && account.bytes().all(|byte| byte.is_ascii_digit());
        (is_region(region) && is_account && is_name(name))
            .then(|| Self { url: format!("https://sqs.{region}.{domain}/{account}/{name}"), region: Some((*region).to_owned()) })
    }
}

fn host(url: &str) -> Option<String> {
    let uri: Uri = url.parse().ok()?;
    uri.host().map(str::to_ascii_lowercase)
}

/// Whether a URL is that of a queue of Amazon, so that no prefix is needed.
fn is_amazon(url: &str) -> bool {
    let amazon = |host: &str| host.ends_with(".amazonaws.com") || host.ends_with(".amazonaws.com.cn");
    host(url).is_some_and(|host| amazon(&host) && region_of(&host).is_some())
}

/// The region, which follows the service in the name of a host: `sqs.eu-west-1.amazonaws.com`.
fn region_of(host: &str) -> Option<String> {
    let mut labels = host.split('.').skip_while(|label| !matches!(*label, "sqs" | "sqs-fips"));
    labels.next()?;
    labels.next().filter(|label| is_region(label)).map(str::to_owned)
}

/// Whether a text has the form of a region, such as `eu-central-1`.
fn is_region(text: &str) -> bool {
    let plain = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    plain && text.len() <= 40 && text.split('-').count() >= 3 && text.ends_with(|last: char| last.is_ascii_digit())
}

fn is_name(text: &str) -> bool {
    let base = text.strip_suffix(FIFO).unwrap_or(text);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !base.is_empty() && text.len() <= MAX_NAME && base.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, Option<String>) {
        let queue = QueueAddress::read(text).unwrap().unwrap();
        assert_eq!(QueueAddress::stored(&queue.endpoint()), Some(queue.clone()), "{text}");
        (queue.url, queue.region)
    }

    #[test]
    fn a_queue_is_named_by_its_url_or_its_arn() {
        let url = "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs.fifo";
        for text in [url, &format!("sqs:{url}"), "arn:aws:sqs:eu-west-1:123456789012:jobs.fifo"] {
            assert_eq!(read(text), (url.to_owned(), Some("eu-west-1".to_owned())), "{text}");
        }
        assert!(QueueAddress::stored(&format!("sqs:{url}")).unwrap().is_fifo());
        assert_eq!(read("sqs:http://127.0.0.1:9324/000000000000/jobs").1, None);
        assert_eq!(read("sqs:https://vpce-1.sqs.us-east-1.vpce.amazonaws.com/123456789012/jobs").1.unwrap(), "us-east-1");
        let china = "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/jobs";
        assert_eq!(read("sqs:arn:aws-cn:sqs:cn-north-1:123456789012:jobs").0, china);
    }

    #[test]
    fn other_addresses_are_no_queues_and_wrong_queues_are_refused() {
        for other in ["https://abc123.lambda-url.us-east-1.on.aws/", "https://example.com/sqs/a", "https://a.amazonaws.com/b/c"] {
            assert_eq!(QueueAddress::read(other), None, "{other}");
        }
        for wrong in
            ["sqs:", "sqs:jobs", "sqs:https://example.com/jobs", "sqs:https://example.com/1/a b", "arn:aws:sns:eu-west-1:1:a"]
        {
            assert!(QueueAddress::read(wrong).unwrap().is_err(), "{wrong}");
        }
    }
}
