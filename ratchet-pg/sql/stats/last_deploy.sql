-- The newest version of a program.
SELECT d.binary_version FROM ratchet.deploy d WHERE d.program = $1 ORDER BY d.id DESC LIMIT 1
