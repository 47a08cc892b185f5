-- No rows. Makes the declarations of a node the newest of its program, unless another live node has the same ones.
INSERT INTO ratchet.program AS p (name, declarations)
SELECT n.program, n.declarations FROM ratchet.node n, (SELECT ratchet.now_micros() AS now) c
WHERE n.id = $1 AND n.until > c.now AND NOT EXISTS (
    SELECT FROM ratchet.node other
    WHERE other.program = n.program AND other.declarations = n.declarations AND other.until > c.now AND other.id <> n.id
)
ON CONFLICT (name) DO UPDATE SET declarations = EXCLUDED.declarations
