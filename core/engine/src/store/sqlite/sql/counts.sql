SELECT queue, state, jobs FROM counts WHERE queue = ?1
