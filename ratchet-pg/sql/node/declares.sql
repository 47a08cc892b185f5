-- True if the declarations of a node are the newest of its program.
SELECT EXISTS (
    SELECT FROM ratchet.node n JOIN ratchet.program p ON p.name = n.program AND p.declarations = n.declarations
    WHERE n.id = $1 AND n.until > ratchet.now_micros()
)
