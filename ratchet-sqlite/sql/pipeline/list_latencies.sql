-- How long the hand-offs of a pipeline that were admitted last had waited.
SELECT max(at - handed_at, 0) FROM ratchet_admission WHERE pipeline = ?1 ORDER BY number DESC LIMIT ?2
