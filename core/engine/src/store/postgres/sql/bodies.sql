SELECT seq, {BODY} FROM ojs_jobs WHERE seq = ANY($1)
