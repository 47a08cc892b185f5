-- When the first and the last archived job of each state were archived.
SELECT ended.value AS state,
    (SELECT min(at) FROM ratchet_archived WHERE state = ended.value) AS oldest,
    (SELECT max(at) FROM ratchet_archived WHERE state = ended.value) AS newest
FROM json_each('[2, 3, 5]') AS ended
