-- Lanes of a concurrency key that have jobs set aside.
SELECT lane FROM ratchet_aside WHERE slot_key = ?1
