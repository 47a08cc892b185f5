-- The jobs that operators have submitted in place of others, with edited arguments. A row is kept as long as its original.
CREATE TABLE ratchet_successor (
    original  BLOB PRIMARY KEY,
    successor BLOB NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;
