SELECT errors, result FROM ojs_histories WHERE seq = $1
