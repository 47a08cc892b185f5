-- When the first key of these queues (a JSON list) lets a job start that was passed over.
SELECT min((
    SELECT full_until FROM ratchet_key_rate
    WHERE queue = wanted.value AND waiting = 1 AND full_until > ?2
    ORDER BY full_until LIMIT 1
)) FROM json_each(?1) AS wanted
