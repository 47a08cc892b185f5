-- A migration that programs of earlier versions ignore, for the rehearsal of a rollout.
ALTER TABLE ratchet_job ADD COLUMN rehearsed TEXT;
ALTER TABLE ratchet_queue ADD COLUMN rehearsed TEXT;
CREATE TABLE ratchet_rehearsal (id INTEGER PRIMARY KEY, what TEXT NOT NULL) STRICT;
CREATE INDEX ratchet_rehearsal_what ON ratchet_rehearsal (what);
