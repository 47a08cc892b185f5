-- The jobs whose runs hold a concurrency key.
SELECT id FROM ratchet_job WHERE state = 1 AND slot_key = ?1
UNION
SELECT job FROM ratchet_lingering WHERE slot_key = ?1
