SELECT min(open_at) FROM limits WHERE open_at > 0
