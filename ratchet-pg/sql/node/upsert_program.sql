-- No rows. Makes the declarations of a node the newest of its program, unless another live node with the same ones has
-- called `try_declare` before.
INSERT INTO ratchet.program AS p (name, declarations)
SELECT n.program, n.declarations FROM ratchet.node n, (SELECT ratchet.now_micros() AS now) c
WHERE n.id = $1 AND n.until > c.now AND NOT EXISTS (
    SELECT FROM ratchet.node other
    WHERE other.program = n.program AND other.declarations = n.declarations AND other.until > c.now AND other.id <> n.id
        AND EXISTS (SELECT FROM ratchet.declared_node d WHERE d.node = other.id)
)
ON CONFLICT (name) DO UPDATE SET declarations = EXCLUDED.declarations
