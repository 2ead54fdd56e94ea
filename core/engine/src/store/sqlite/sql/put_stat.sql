INSERT OR REPLACE INTO stats (at, span, queue, node, enqueued, completed, failed, discarded, run, wait) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
