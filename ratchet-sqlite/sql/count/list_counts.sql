-- The number of jobs by queue and state.
SELECT template.queue, count.state, CAST(total(count.jobs) AS INTEGER) AS jobs
FROM ratchet_count AS count JOIN ratchet_template AS template ON template.id = count.template
WHERE count.jobs > 0 GROUP BY template.queue, count.state
