UPDATE jobs SET queue = ?2, nprio = ?3, max_attempts = ?4 WHERE seq = ?1
