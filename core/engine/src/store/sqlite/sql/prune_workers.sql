DELETE FROM workers WHERE beat_at = 0 AND num NOT IN (SELECT worker FROM jobs WHERE state = 3)
