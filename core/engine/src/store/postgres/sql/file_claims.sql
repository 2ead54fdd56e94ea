INSERT INTO ojs_claims (until, seqs) VALUES ($1, $2) RETURNING num
