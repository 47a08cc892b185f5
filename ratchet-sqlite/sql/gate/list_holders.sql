-- The jobs whose runs hold a concurrency key, once per run.
SELECT id FROM ratchet_job WHERE state = 1 AND slot_key = ?1
UNION ALL
SELECT job FROM ratchet_lingering WHERE slot_key = ?1
