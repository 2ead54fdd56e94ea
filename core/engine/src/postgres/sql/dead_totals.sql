SELECT count(*), min(finished_at), max(finished_at) FROM ojs_runs WHERE flags & 1 = 1
