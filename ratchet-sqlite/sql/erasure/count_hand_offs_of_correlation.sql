-- How many hand-offs a correlation id has, at most a number.
SELECT count(*) FROM (SELECT 1 FROM ratchet_hand_off WHERE correlation_id = ?1 LIMIT ?2)
