-- The backlog, oldest unfinished checkpoint, finished count and repeats of a pipeline. Damaged numbers are ignored.
SELECT coalesce(sum(finished = 0), 0), min(CASE WHEN finished = 0 THEN at END), coalesce(sum(finished <> 0), 0),
       coalesce(sum(repeats) FILTER (WHERE repeats BETWEEN 0 AND 4294967295), 0)
FROM ratchet_hand_off WHERE pipeline = ?1
