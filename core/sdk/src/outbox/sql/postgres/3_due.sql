CREATE INDEX IF NOT EXISTS idx_ojs_outbox_due ON ojs_outbox (id) WHERE status <> 'sent' AND parked_at IS NULL
