-- How many runs try a service under one opening of its breaker: live claims, and runs that linger.
SELECT (SELECT count(*) FROM ratchet_job WHERE state = 1 AND probe = ?1)
     + (SELECT count(*) FROM ratchet_lingering WHERE probe = ?1)
