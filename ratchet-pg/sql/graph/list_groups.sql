-- Groups without an owner and with a lower id than the given one, newest first.
SELECT g.body, g.id FROM ratchet.job_group g WHERE g.owner IS NULL AND g.id < $1 ORDER BY g.id DESC LIMIT $2
