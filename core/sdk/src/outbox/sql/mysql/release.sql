UPDATE ojs_outbox_relay SET expires_at = '1970-01-02 00:00:00' WHERE `partition` = 0 AND owner = :owner AND term = :term
