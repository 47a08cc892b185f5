-- No rows. Marks checkpoints of a pipeline as finished.
UPDATE ratchet.hand_off SET finished = true WHERE pipeline = $1 AND key = ANY($2::text[])
