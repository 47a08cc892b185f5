-- Marks checkpoints (a list of keys) of a pipeline as finished.
UPDATE ratchet_hand_off SET finished = 1 WHERE pipeline = ?1 AND key IN (SELECT value FROM json_each(?2))
