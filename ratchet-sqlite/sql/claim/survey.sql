-- The state that a claim needs before it reads the lines of its queues (a JSON list): the lease of its node, the
-- templates with future jobs and their first due time, the rules of the queues, the breakers that are not closed, and
-- the first lanes that were set aside for an unknown name or a breaker. One lookup finds the next template that has
-- future jobs, because there can be a template per job.
WITH RECURSIVE future (template) AS (
    SELECT min(template) FROM ratchet_job WHERE state = 0 AND ready = 0
    UNION ALL
    SELECT (SELECT min(template) FROM ratchet_job WHERE state = 0 AND ready = 0 AND template > future.template)
    FROM future WHERE template IS NOT NULL
)
SELECT 0 AS topic, lease_until AS number, NULL AS name, NULL AS version, NULL AS due, NULL AS slot_key, NULL AS slot_limit,
       NULL AS service
FROM ratchet_node WHERE id = ?2
UNION ALL
SELECT 1, kind.id, kind.name, kind.version,
       (SELECT min(due) FROM ratchet_job WHERE template = kind.id AND state = 0 AND ready = 0), NULL, NULL, NULL
FROM future CROSS JOIN ratchet_template AS kind ON kind.id = future.template
WHERE kind.queue IN (SELECT value FROM json_each(?1))
UNION ALL
SELECT 2, 0, gate.name, NULL, NULL, gate.rules, NULL, NULL
FROM json_each(?1) AS wanted CROSS JOIN ratchet_queue AS gate ON gate.name = wanted.value
UNION ALL
SELECT 3, 0, service, NULL, NULL, breaker, NULL, NULL FROM ratchet_breaker WHERE closed = 0
UNION ALL
SELECT * FROM (
    SELECT 4, aside.lane, aside.name, aside.version, aside.back, aside.slot_key, aside.slot_limit, aside.service
    FROM json_each(?1) AS wanted CROSS JOIN ratchet_aside AS aside ON aside.queue = wanted.value
    WHERE aside.unknown = 1 OR aside.service IS NOT NULL
    LIMIT ?3
)
