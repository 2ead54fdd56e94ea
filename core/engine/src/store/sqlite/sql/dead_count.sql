SELECT max(coalesce(sum(jobs), 0), 0) FROM counts WHERE state = 8
