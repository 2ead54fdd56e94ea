DELETE FROM histories WHERE seq = ?1
