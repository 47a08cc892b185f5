-- Runs that succeeded and are known to be current: a list of [fence, duration, output start, output length], and the
-- bytes of all ids and outputs. Bytes instead of JSON texts, because an output may hold any character.
UPDATE ratchet_job
SET state = 2, fence = ratchet_job.fence + 1, finished_at = ?4, duration = ended.took, output = ended.returned,
    lease = NULL, handler_started = NULL
FROM (
    SELECT substr(?2, 16 * key + 1, 16) AS job,
           value ->> 1 AS took,
           CASE WHEN value ->> 2 THEN CAST(substr(?3, value ->> 2, value ->> 3) AS TEXT) END AS returned
    FROM json_each(?1)
) AS ended
WHERE id = ended.job
