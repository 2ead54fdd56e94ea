SELECT queue, state, jobs FROM counts ORDER BY queue
