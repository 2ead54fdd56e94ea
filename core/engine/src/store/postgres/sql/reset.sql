TRUNCATE ojs_jobs, ojs_runs, ojs_histories, ojs_workflows, ojs_steps, ojs_crons, ojs_queues, ojs_counts, ojs_kinds, ojs_workers, ojs_events,
  ojs_maintenance, ojs_stats, ojs_limits, ojs_limit_starts, ojs_answers, ojs_claims
