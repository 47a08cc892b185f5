-- What waits on some queues (a JSON list), with the first future job of each kind.
SELECT kind.id, kind.name, kind.version,
       (SELECT min(due) FROM ratchet_job WHERE template = kind.id AND state = 0 AND ready = 0) AS first
FROM json_each(?1) AS wanted
CROSS JOIN ratchet_template AS kind ON kind.queue = wanted.value
CROSS JOIN ratchet_count AS waiting ON waiting.template = kind.id AND waiting.state = 0
WHERE waiting.jobs > 0
