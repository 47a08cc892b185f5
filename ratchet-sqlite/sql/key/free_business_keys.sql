-- Frees the business keys of ended jobs (the bytes of all ids, and a list of the same length), unless one of their runs
-- lingers.
DELETE FROM ratchet_business WHERE (scoped_key, job) IN (
    SELECT over.scoped_key, over.id
    FROM json_each(?1) AS ended CROSS JOIN ratchet_job AS over ON over.id = substr(?2, 16 * ended.key + 1, 16)
    WHERE over.scoped_key IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ratchet_lingering WHERE job = over.id)
)
