SELECT queue, jobs FROM counts WHERE state = 8 AND jobs > 0
