-- Lanes of some queues (a JSON list) that were set aside because a claimer did not know their name.
SELECT lane, name, version, slot_key, slot_limit
FROM json_each(?1) AS wanted CROSS JOIN ratchet_aside AS aside ON aside.queue = wanted.value
WHERE aside.unknown = 1
