-- What a claim must know before it looks at the line of some queues (a JSON list): whether its node's lease holds; what
-- waits, with the first future job of each kind; which lanes were set aside because a claimer did not know their name.
SELECT 0 AS topic, lease_until AS number, NULL AS name, NULL AS version, NULL AS due, NULL AS slot_key, NULL AS slot_limit
FROM ratchet_node WHERE id = ?2
UNION ALL
SELECT 1, kind.id, kind.name, kind.version,
       (SELECT min(due) FROM ratchet_job WHERE template = kind.id AND state = 0 AND ready = 0) AS first, NULL, NULL
FROM json_each(?1) AS wanted
CROSS JOIN ratchet_template AS kind ON kind.queue = wanted.value
CROSS JOIN ratchet_count AS waiting ON waiting.template = kind.id AND waiting.state = 0
WHERE waiting.jobs > 0 AND first IS NOT NULL
UNION ALL
SELECT 2, aside.lane, aside.name, aside.version, NULL, aside.slot_key, aside.slot_limit
FROM json_each(?1) AS wanted CROSS JOIN ratchet_aside AS aside ON aside.queue = wanted.value
WHERE aside.unknown = 1
