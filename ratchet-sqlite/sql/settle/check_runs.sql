-- How many of these runs are current, by template: a list of fences, and the bytes of all ids and leases.
SELECT job.template, count(*), max(job.scoped_key IS NOT NULL), max(job.slot_key IS NOT NULL)
FROM json_each(?1) AS ended
CROSS JOIN ratchet_job AS job ON job.id = substr(?2, 16 * ended.key + 1, 16)
WHERE job.state = 1 AND job.fence = ended.value ->> 0 AND job.lease = substr(?3, 16 * ended.key + 1, 16)
GROUP BY job.template
