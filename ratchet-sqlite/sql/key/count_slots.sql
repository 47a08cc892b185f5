-- How many runs hold a concurrency key: live claims, and runs that linger.
SELECT (SELECT count(*) FROM ratchet_job WHERE state = 1 AND slot_key = ?1)
     + (SELECT count(*) FROM ratchet_lingering WHERE slot_key = ?1)
