//! Log records on their way to the host. In a process of its own: all that is said in a process comes to one ring, by other tests too.
use std::time::Duration;

use ojs_abi::logs::{Record, install, pull, pull_since, set_level, take, unblock, unblocks, written_after};

/// Records kept for the host.
const CAPACITY: usize = 4_096;

#[test]
fn records_arrive_filtered_and_the_oldest_are_lost() {
    install();
    tracing::info!(target: "ojs::test", queue = "mail", n = 3, "hello");
    tracing::debug!(target: "ojs::test", "too quiet");
    tracing::info!(target: "elsewhere", "not ours");
    let (records, lost) = pull(10, Duration::ZERO);
    let expected = Record { level: 3, target: "ojs::test", text: "hello queue=mail n=3".to_owned() };
    assert_eq!((records, lost), (vec![expected], 0));
    let seen = unblocks();
    unblock();
    assert_eq!(pull_since(1, Duration::from_secs(3600), seen), (Vec::new(), 0), "it does not wait: it was unblocked before");
    for n in 0..CAPACITY + 5 {
        tracing::warn!(target: "ojs::test", "{n}");
    }
    let (records, lost) = pull(1, Duration::ZERO);
    assert_eq!((records[0].text.as_str(), lost), ("5", 5));
    // A place that was silent when it was first passed speaks as soon as it is asked to.
    let _ = pull(CAPACITY, Duration::ZERO);
    for level in [3, 4] {
        set_level(level);
        tracing::debug!(target: "ojs::test", "details");
    }
    let (records, _) = pull(10, Duration::ZERO);
    assert_eq!(records.len(), 1);
    // A thread that only watches sees each record once, and leaves it to the thread that takes it.
    let seen = written_after(0, Duration::from_secs(3600));
    tracing::warn!(target: "ojs::test", "last");
    assert_eq!(written_after(seen, Duration::from_secs(3600)), seen + 1);
    assert_eq!(written_after(seen + 1, Duration::ZERO), seen + 1);
    assert_eq!(take().0.len(), 1);
    assert_eq!(take(), (Vec::new(), 0));
}
