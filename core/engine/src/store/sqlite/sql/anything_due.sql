SELECT EXISTS (SELECT 1 FROM jobs WHERE state = 0 AND pos <= ?1)
    OR EXISTS (SELECT 1 FROM jobs WHERE state = 5 AND pos <= ?1)
    OR EXISTS (SELECT 1 FROM jobs WHERE state = 3 AND pos <= ?1)
    OR EXISTS (SELECT 1 FROM jobs WHERE expires_at > 0 AND expires_at <= ?1)
