SELECT {HISTORY} FROM ojs_histories WHERE seq = $1
