SELECT {BODY} FROM bodies WHERE seq = ?1
