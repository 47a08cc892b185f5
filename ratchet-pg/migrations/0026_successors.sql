-- The jobs that operators have submitted in place of others, with edited arguments. A row is kept as long as its original.
CREATE TABLE ratchet.successor (
    original uuid PRIMARY KEY,
    successor uuid NOT NULL UNIQUE
);
