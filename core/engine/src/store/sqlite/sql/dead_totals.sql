SELECT count(*), min(finished_at), max(finished_at) FROM jobs WHERE flags & 1 AND (?1 IS NULL OR tenant = ?1)
