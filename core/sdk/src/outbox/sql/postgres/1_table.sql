CREATE TABLE IF NOT EXISTS ojs_outbox (
    id          BIGSERIAL PRIMARY KEY,
    job_type    TEXT NOT NULL,
    job_args    JSONB NOT NULL,
    job_options JSONB NOT NULL DEFAULT '{}',
    status      TEXT NOT NULL DEFAULT 'pending',
    created_at  TIMESTAMPTZ NOT NULL DEFAULT now(),
    sent_at     TIMESTAMPTZ,
    error       TEXT
)
