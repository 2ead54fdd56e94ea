SELECT seq, {HISTORY} FROM ojs_histories WHERE seq = ANY($1)
