-- A migration that programs of earlier versions ignore, for the rehearsal of a rollout.
ALTER TABLE ratchet.job ADD COLUMN rehearsed text;
ALTER TABLE ratchet.ready ADD COLUMN rehearsed integer NOT NULL DEFAULT 0;
ALTER TABLE ratchet.queue ADD COLUMN rehearsed text;
CREATE TABLE ratchet.rehearsal (id bigint PRIMARY KEY, what text NOT NULL);
CREATE INDEX rehearsal_what ON ratchet.rehearsal (what);
