-- No rows: checkpoints of a pipeline that were taken over for good.
UPDATE ratchet.hand_off SET finished = true WHERE pipeline = $1 AND key = ANY($2::text[])
