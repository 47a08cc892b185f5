) s
CROSS JOIN LATERAL (SELECT * FROM ratchet.job j WHERE j.id = s.id OFFSET 0) j
