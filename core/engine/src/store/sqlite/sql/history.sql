SELECT {HISTORY} FROM histories WHERE seq = ?1
