-- The lanes of a name. A claim that finds many lanes reads only those of the names that it knows.
CREATE INDEX ratchet_aside_name ON ratchet_aside (queue, name) WHERE unknown = 1 OR service IS NOT NULL;
-- The new index begins with the same column.
DROP INDEX ratchet_aside_unknown;
