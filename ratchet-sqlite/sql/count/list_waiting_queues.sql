-- Queues with pending jobs.
SELECT DISTINCT template.queue
FROM ratchet_count AS count JOIN ratchet_template AS template ON template.id = count.template
WHERE count.state = 0 AND count.jobs > 0
