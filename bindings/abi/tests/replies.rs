//! Answers for an event loop, and the bell that announces them.
#![cfg(unix)]
use ojs_abi::doorbell::SocketDoorbell;
use ojs_abi::replies::Replies;

#[test]
fn answers_come_in_order_with_one_ring() {
    let replies = Replies::new(Box::new(SocketDoorbell::new().unwrap()));
    replies.put(1, "a");
    replies.put(2, "b");
    assert_eq!(replies.take().unwrap(), [(1, "a"), (2, "b")]);
    assert!(replies.take().unwrap().is_empty());
}
