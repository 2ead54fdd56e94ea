INSERT INTO ojs_outbox_relay (`partition`, owner, term, expires_at, identity)
VALUES (0, :owner, 1, UTC_TIMESTAMP(6) + INTERVAL (:ttl * 1000) MICROSECOND, UUID())
ON DUPLICATE KEY UPDATE
    term = IF(owner <> VALUES(owner) AND expires_at <= UTC_TIMESTAMP(6), term + 1, term),
    owner = IF(expires_at <= UTC_TIMESTAMP(6), VALUES(owner), owner),
    expires_at = IF(owner = VALUES(owner), VALUES(expires_at), expires_at);
SELECT term, identity FROM ojs_outbox_relay WHERE `partition` = 0 AND owner = :owner AND expires_at > UTC_TIMESTAMP(6)
