SELECT count(*) FROM jobs WHERE limited > 0 AND state = 3 AND limited = ?1
