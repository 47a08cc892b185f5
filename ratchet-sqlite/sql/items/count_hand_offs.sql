-- How a pipeline keeps up: what waits, since when, what is finished, what was repeated.
SELECT coalesce(sum(finished = 0), 0), min(CASE WHEN finished = 0 THEN at END), coalesce(sum(finished), 0), coalesce(sum(repeats), 0)
FROM ratchet_hand_off WHERE pipeline = ?1
