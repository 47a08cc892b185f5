-- Deletes the pipelines of a program, except those of a list.
DELETE FROM ratchet_pipeline WHERE program = ?1 AND name NOT IN (SELECT value FROM json_each(?2))
