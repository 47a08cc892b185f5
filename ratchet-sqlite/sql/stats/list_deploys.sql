-- The deploys from one time up to another.
SELECT at, program, binary_version FROM ratchet_deploy WHERE at >= ?1 AND at < ?2 ORDER BY at, number
