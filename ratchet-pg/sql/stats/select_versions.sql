-- The versions of the other live nodes of a program.
SELECT DISTINCT n.binary_version FROM ratchet.node n
WHERE n.program = $1 AND n.id <> $2 AND n.until > ratchet.now_micros()
