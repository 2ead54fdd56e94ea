-- Version 6. The tenant of a job, 0 for the default one. The indexes hold jobs of other tenants only.
ALTER TABLE ojs_runs ADD COLUMN tenant bigint NOT NULL DEFAULT 0;
CREATE INDEX ojs_runs_tenant_ready ON ojs_runs (tenant, queue, nprio, line) WHERE tenant > 0 AND place = 1;
CREATE INDEX ojs_runs_tenant ON ojs_runs (tenant, seq) WHERE tenant > 0;
