SELECT min(nprio) FROM jobs INDEXED BY jobs_fair
WHERE fair > 0 AND state = 1 AND queue = ?1 AND nprio >= ?2 AND nprio < ?3
