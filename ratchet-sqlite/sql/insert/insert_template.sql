-- A combination of name, queue and options, unless it is there.
INSERT INTO ratchet_template (id, queue, name, version, body) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (id) DO NOTHING
