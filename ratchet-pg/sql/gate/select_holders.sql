-- The jobs whose runs hold a concurrency key, once per run.
SELECT job FROM ratchet.slot WHERE key = $1 AND NOT probe ORDER BY job
