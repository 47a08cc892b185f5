-- The newest version of a program.
SELECT binary_version FROM ratchet_deploy WHERE program = ?1 ORDER BY number DESC LIMIT 1
