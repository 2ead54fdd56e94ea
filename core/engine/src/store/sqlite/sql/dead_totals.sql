SELECT count(*), min(finished_at), max(finished_at) FROM jobs WHERE flags & 1
