SELECT coalesce(pg_sequence_last_value('ojs_events_seq_seq'), 0)
