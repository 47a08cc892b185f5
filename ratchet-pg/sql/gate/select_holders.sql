-- The jobs whose runs hold a key, once per run.
SELECT job FROM ratchet.slot WHERE key = $1 ORDER BY job
