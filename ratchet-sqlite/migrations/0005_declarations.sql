-- What the program of a node declares in its code.
ALTER TABLE ratchet_node ADD COLUMN program TEXT NOT NULL DEFAULT '';
ALTER TABLE ratchet_node ADD COLUMN declarations INTEGER NOT NULL DEFAULT 0;

-- The fingerprint of the newest declarations of each program.
CREATE TABLE ratchet_program (
    name         TEXT    PRIMARY KEY,
    declarations INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
