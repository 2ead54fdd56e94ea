TRUNCATE ojs_jobs, ojs_runs, ojs_histories, ojs_counts, ojs_events, ojs_claims
