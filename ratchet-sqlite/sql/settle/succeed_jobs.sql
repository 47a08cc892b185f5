-- Settles successful runs. First returns the current ones as one row of JSON, then updates them. Takes a list of
-- [fence, duration, output start, output length] and the bytes of all ids, leases and outputs. Outputs are bytes
-- instead of JSON strings, because they may contain any character.
SELECT json_group_array(json_array(
    ended.key, job.template, job.scoped_key IS NOT NULL, job.slot_key, job.queue, job.linked, hex(job.grp)
))
FROM json_each(?1) AS ended
CROSS JOIN ratchet_job AS job ON job.id = substr(?2, 16 * ended.key + 1, 16)
WHERE job.state = 1 AND job.fence = ended.value ->> 0 AND job.lease = substr(?3, 16 * ended.key + 1, 16);
UPDATE ratchet_job
SET state = 2, fence = ratchet_job.fence + 1, finished_at = ?5, duration = ended.took, output = ended.returned,
    lease = NULL, handler_started = NULL
FROM (
    SELECT substr(?2, 16 * key + 1, 16) AS job,
           substr(?3, 16 * key + 1, 16) AS claim,
           value ->> 0 AS version,
           value ->> 1 AS took,
           CASE WHEN value ->> 2 THEN CAST(substr(?4, value ->> 2, value ->> 3) AS TEXT) END AS returned
    FROM json_each(?1)
) AS ended
WHERE id = ended.job AND state = 1 AND ratchet_job.fence = ended.version AND lease = ended.claim
