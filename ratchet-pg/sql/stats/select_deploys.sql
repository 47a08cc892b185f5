-- The deploys from one time up to another.
SELECT d.at, d.program, d.binary_version FROM ratchet.deploy d WHERE d.at >= $1 AND d.at < $2 ORDER BY d.id
