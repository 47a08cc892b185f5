-- The business keys of jobs (a list of seq) that are over, unless one of their runs lingers.
DELETE FROM ratchet_business WHERE (scoped_key, job) IN (
    SELECT over.scoped_key, over.id
    FROM json_each(?1) AS ended CROSS JOIN ratchet_job AS over ON over.seq = ended.value
    WHERE NOT EXISTS (SELECT 1 FROM ratchet_lingering WHERE job = over.id)
)
