-- Sets when the lanes of keys bring back jobs (a list of queue, key and time).
UPDATE ratchet_aside SET back = key.value ->> 2, brought = NULL
FROM json_each(?1) AS key
WHERE ratchet_aside.slot_key = key.value ->> 1 AND ratchet_aside.queue = key.value ->> 0
