-- The nodes that have called `try_declare`. A table of its own, because processes of earlier versions read all columns of
-- `node`.
CREATE TABLE ratchet.declared_node (
    node uuid PRIMARY KEY REFERENCES ratchet.node ON DELETE CASCADE
);
-- The nodes of earlier versions count as if they had.
INSERT INTO ratchet.declared_node (node) SELECT n.id FROM ratchet.node n;
