-- The number of pending jobs by name and version.
SELECT template.name, template.version, CAST(total(count.jobs) AS INTEGER) AS jobs
FROM ratchet_count AS count JOIN ratchet_template AS template ON template.id = count.template
WHERE count.state = 0 AND count.jobs > 0 GROUP BY template.name, template.version
