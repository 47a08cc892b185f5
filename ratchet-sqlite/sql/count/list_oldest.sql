-- The oldest pending job of each of these names and versions (a JSON array of pairs). Reads the whole table, so it is
-- used only for jobs that no live node knows.
SELECT template.name, min(job.queued_at)
FROM ratchet_job AS job JOIN ratchet_template AS template ON template.id = job.template
WHERE job.state = 0
  AND (template.name, template.version) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1))
GROUP BY template.name
