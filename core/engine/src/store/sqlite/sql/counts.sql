SELECT state, jobs FROM counts WHERE queue = ?1
