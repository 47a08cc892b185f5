-- At most one row: what an operator says about a group. It is locked until the commit.
SELECT mark FROM ratchet.failure_mark WHERE name = $1 AND fingerprint = $2 FOR UPDATE
