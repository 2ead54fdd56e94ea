-- Version 5: the tenant of a job, 0 for the default one. The indexes hold jobs of other tenants only.
ALTER TABLE jobs ADD COLUMN tenant INTEGER NOT NULL DEFAULT 0;
CREATE INDEX jobs_tenant_ready ON jobs (tenant, queue, nprio, pos) WHERE tenant > 0 AND state = 1;
CREATE INDEX jobs_tenant ON jobs (tenant) WHERE tenant > 0;
PRAGMA user_version = 5;
