TRUNCATE ojs_jobs, ojs_runs, ojs_histories, ojs_queues, ojs_counts, ojs_kinds, ojs_workers, ojs_events, ojs_claims
