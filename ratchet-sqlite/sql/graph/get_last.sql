-- The last job of a sequence.
SELECT last FROM ratchet_sequence WHERE key = ?1
