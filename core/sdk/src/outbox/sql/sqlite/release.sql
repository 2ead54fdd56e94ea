UPDATE ojs_outbox_relay SET expires_at = 0 WHERE partition = 0 AND owner = :owner AND term = :term
