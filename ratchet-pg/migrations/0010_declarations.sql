-- What the program of a node declares in its code.
ALTER TABLE ratchet.node
    ADD COLUMN program text NOT NULL DEFAULT '',
    ADD COLUMN declarations bigint NOT NULL DEFAULT 0;

-- The fingerprint of the newest declarations of each program.
CREATE TABLE ratchet.program (
    name text PRIMARY KEY,
    declarations bigint NOT NULL
);
