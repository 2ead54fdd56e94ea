CREATE INDEX IF NOT EXISTS idx_ojs_outbox_parked ON ojs_outbox (parked_at) WHERE parked_at IS NOT NULL
