-- Groups that are in no other, newest first, older than one.
SELECT g.body, g.id FROM ratchet.job_group g WHERE g.owner IS NULL AND g.id < $1 ORDER BY g.id DESC LIMIT $2
