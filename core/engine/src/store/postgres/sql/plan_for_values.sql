SET LOCAL plan_cache_mode = auto
