-- Version 4. Claims and acks touch as few indexes as can be.
--
-- A row that changes no indexed column is rewritten within its page (HOT), at half the price. So indexes no longer hang on state and pos, which every
-- transition changes, but on place and line, which the database computes from them, also when the version before writes the row.
--   place  the state, but 9 for what no index needs to find: completed jobs, and active ones that are filed
--   line   where in line: ticket, due time, deadline, or end of a discarded job; else 0
-- A claim is filed as one row of ojs_claims for a whole batch, which says where the active jobs are. After two seconds, or at the first deadline, it is
-- taken apart: jobs that are still active get place 3, found by their deadline from then on. Most have ended by then.
--
-- The table is rewritten once, under a lock (some 20 s per million jobs on a busy machine of two cores). The version before stays right, but without its indexes it is slow: replace its
-- nodes soon.
DROP INDEX ojs_runs_ready, ojs_runs_timed, ojs_runs_held, ojs_runs_unique, ojs_runs_pending, ojs_runs_cancelled, ojs_runs_discarded, ojs_runs_dead,
  ojs_runs_limited, ojs_runs_limited_active;
ALTER TABLE ojs_runs SET (fillfactor = 60);
ALTER TABLE ojs_runs
  ADD COLUMN filed bigint NOT NULL DEFAULT 0, -- the lease under which it is filed
  ADD COLUMN place smallint NOT NULL GENERATED ALWAYS AS (CASE WHEN state = 4 OR state = 3 AND filed = lease THEN 9 ELSE state END) STORED,
  ADD COLUMN line bigint NOT NULL GENERATED ALWAYS AS (
    CASE WHEN state IN (0, 1, 5) OR state = 3 AND filed <> lease THEN pos WHEN state = 7 THEN finished_at ELSE 0 END) STORED;
CREATE INDEX ojs_runs_ready ON ojs_runs (queue, nprio, line) WHERE place = 1;
-- What time moves on: scheduled, retryable, and active jobs that are not filed.
CREATE INDEX ojs_runs_due ON ojs_runs (place, line) WHERE place IN (0, 3, 5);
CREATE INDEX ojs_runs_unique ON ojs_runs (ukey, created_at) WHERE ukey IS NOT NULL;
CREATE INDEX ojs_runs_pending ON ojs_runs (seq) WHERE place = 2;
CREATE INDEX ojs_runs_cancelled ON ojs_runs (seq) WHERE place = 6;
CREATE INDEX ojs_runs_discarded ON ojs_runs (seq) WHERE place = 7;
CREATE INDEX ojs_runs_dead ON ojs_runs (line) WHERE place = 7 AND flags & 1 = 1;
CREATE INDEX ojs_runs_limited ON ojs_runs (limited, queue, nprio, line) WHERE limited > 0 AND place = 1;
CREATE INDEX ojs_runs_limited_active ON ojs_runs (limited) WHERE limited > 0 AND place = 3;

CREATE TABLE ojs_claims (
  num   bigint   GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  until bigint   NOT NULL,  -- taken apart then
  seqs  bigint[] NOT NULL
) WITH (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE ojs_claims ALTER COLUMN seqs SET STORAGE EXTERNAL;
CREATE INDEX ojs_claims_until ON ojs_claims (until);
-- Active jobs, filed or not.
CREATE VIEW ojs_active AS
  SELECT seq, queue, worker FROM ojs_runs WHERE seq IN (SELECT unnest(seqs) FROM ojs_claims) AND state = 3 AND filed = lease
  UNION ALL
  SELECT seq, queue, worker FROM ojs_runs WHERE place = 3;

-- Events are text of a hundred bytes a line, and compressing them was a tenth of a claim's cost. lz4 is faster, where the server has it.
DO $$
BEGIN
  EXECUTE 'ALTER TABLE ojs_events ALTER COLUMN lines SET COMPRESSION lz4';
EXCEPTION WHEN feature_not_supported OR syntax_error OR invalid_parameter_value THEN
  NULL;
END
$$;
