SELECT finished_at FROM jobs WHERE flags & 1 ORDER BY finished_at LIMIT 1
