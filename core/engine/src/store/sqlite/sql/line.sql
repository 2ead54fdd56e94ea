SELECT seq, nprio, pos, kind FROM jobs
WHERE state = 1 AND queue = ?1 AND nprio < 500 AND (nprio, pos) > (?2, ?3)
ORDER BY nprio, pos
LIMIT ?4
