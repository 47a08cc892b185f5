-- Makes the declarations of a node the newest of its program, unless another live node with the same ones has
-- called `try_declare` before.
INSERT INTO ratchet_program (name, declarations)
SELECT n.program, n.declarations FROM ratchet_node n WHERE n.id = ?1 AND n.lease_until > ?2 AND NOT EXISTS (
    SELECT 1 FROM ratchet_node other
    WHERE other.program = n.program AND other.declarations = n.declarations AND other.lease_until > ?2 AND other.id <> n.id
        AND other.declared
)
ON CONFLICT (name) DO UPDATE SET declarations = excluded.declarations
