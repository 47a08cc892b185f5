-- The signature of the hash of an entry, if the engine that made the change had a key to sign.
ALTER TABLE ratchet_audit ADD COLUMN signature TEXT;
