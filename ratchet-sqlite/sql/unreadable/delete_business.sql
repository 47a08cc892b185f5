-- The business keys that a job holds: by the job, because its own key may be damaged.
DELETE FROM ratchet_business WHERE job = (SELECT id FROM ratchet_job WHERE seq = ?1)
