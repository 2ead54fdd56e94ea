DELETE FROM ojs_outbox WHERE parked_at < clock_timestamp() - :age * interval '1 millisecond'
