-- When the first and the last job that are archived were archived.
SELECT min(oldest), max(newest) FROM (
    SELECT (SELECT min(at) FROM ratchet_archived WHERE state = ended.value) AS oldest,
        (SELECT max(at) FROM ratchet_archived WHERE state = ended.value) AS newest
    FROM json_each('[2, 3, 5]') AS ended
)
