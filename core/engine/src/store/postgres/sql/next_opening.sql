SELECT min(open_at) FROM ojs_limits WHERE open_at > 0
