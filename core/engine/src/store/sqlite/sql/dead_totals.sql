SELECT count(*), min(finished_at), max(finished_at)
FROM (SELECT finished_at, tenant FROM jobs WHERE flags & 1 ORDER BY finished_at DESC LIMIT ?2) WHERE (?1 IS NULL OR tenant = ?1)
