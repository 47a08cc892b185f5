-- Inserts a template, unless it exists.
INSERT INTO ratchet_template (id, queue, name, version, body) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (id) DO NOTHING
