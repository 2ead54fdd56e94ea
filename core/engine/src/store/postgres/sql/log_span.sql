SELECT coalesce(min(seq), (SELECT last_value + is_called::int FROM ojs_events_seq_seq)), coalesce(max(seq), (SELECT last_value FROM ojs_events_seq_seq WHERE is_called), 0) FROM ojs_events
