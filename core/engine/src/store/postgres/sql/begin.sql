SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, value FROM ojs_epoch
