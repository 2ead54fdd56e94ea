SELECT errors, result FROM histories WHERE seq = ?1
