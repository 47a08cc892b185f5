-- One row if the declarations of a node are the newest of its program.
SELECT 1 FROM ratchet_node n JOIN ratchet_program p ON p.name = n.program AND p.declarations = n.declarations
WHERE n.id = ?1 AND n.lease_until > ?2
