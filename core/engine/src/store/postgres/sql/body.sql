SELECT {BODY} FROM ojs_jobs WHERE seq = $1
