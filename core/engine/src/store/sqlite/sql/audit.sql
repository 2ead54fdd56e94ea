-- What an audit asks of the file. Each statement begins with `-- check NAME: WHAT`, takes the largest number of rows, and
-- returns the row that is wrong, what was expected and what was found.

-- check bodies: the body of a job
SELECT 'job ' || lower(substr(hex(id), 1, 8) || '-' || substr(hex(id), 9, 4) || '-' || substr(hex(id), 13, 4) || '-' ||
       substr(hex(id), 17, 4) || '-' || substr(hex(id), 21)), 'a row', 'none'
FROM jobs WHERE NOT EXISTS (SELECT 1 FROM bodies WHERE bodies.seq = jobs.seq) LIMIT ?1;

-- check bodies: the job of a body
SELECT 'body ' || seq, 'a row', 'none'
FROM bodies WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.seq = bodies.seq) LIMIT ?1;

-- check histories: the job of a history
SELECT 'history ' || seq, 'a row', 'none'
FROM histories WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.seq = histories.seq) LIMIT ?1;

-- check leases: active jobs with one lease token
SELECT 'lease ' || lease, '1', CAST(count(*) AS TEXT) FROM jobs WHERE state = 3 GROUP BY lease HAVING count(*) > 1 LIMIT ?1;

-- check leases: tokens are below the next range
SELECT 'job number ' || seq, 'less than ' || (SELECT value FROM settings WHERE name = 'next_lease'), CAST(lease AS TEXT)
FROM jobs WHERE lease >= (SELECT value FROM settings WHERE name = 'next_lease') LIMIT ?1;

-- check same_key: pairs of jobs that have not ended
SELECT lower(substr(hex(a.id), 1, 8) || '-' || substr(hex(a.id), 9, 4) || '-' || substr(hex(a.id), 13, 4) || '-' ||
       substr(hex(a.id), 17, 4) || '-' || substr(hex(a.id), 21)),
       lower(substr(hex(b.id), 1, 8) || '-' || substr(hex(b.id), 9, 4) || '-' || substr(hex(b.id), 13, 4) || '-' ||
       substr(hex(b.id), 17, 4) || '-' || substr(hex(b.id), 21)), ''
FROM jobs a JOIN jobs b ON b.ukey = a.ukey AND b.seq > a.seq
WHERE a.ukey IS NOT NULL AND a.state IN (0, 1, 2, 3, 5) AND b.state IN (0, 1, 2, 3, 5) LIMIT ?1;
