-- The lanes of queues (a JSON list) that were set aside for an unknown name or a breaker, of the names that the claimer
-- knows (a JSON list), with the columns of the survey.
SELECT 4 AS topic, aside.lane, aside.name, aside.version, aside.back AS due, aside.slot_key, aside.slot_limit, aside.service
FROM json_each(?1) AS wanted
CROSS JOIN json_each(?2) AS known
CROSS JOIN ratchet_aside AS aside ON aside.queue = wanted.value AND aside.name = known.value
WHERE aside.unknown = 1 OR aside.service IS NOT NULL
