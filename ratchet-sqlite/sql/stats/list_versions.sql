-- The versions of the other live nodes of a program.
SELECT DISTINCT binary_version FROM ratchet_node WHERE program = ?1 AND id <> ?2 AND lease_until > ?3
