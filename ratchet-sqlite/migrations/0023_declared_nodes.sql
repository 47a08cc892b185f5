-- Whether a node has called `try_declare`. The nodes of earlier versions count as if they had.
ALTER TABLE ratchet_node ADD COLUMN declared INTEGER NOT NULL DEFAULT 1;
