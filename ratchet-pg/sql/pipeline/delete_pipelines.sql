-- No rows. Deletes the pipelines of a program, except those of a list.
DELETE FROM ratchet.pipeline WHERE program = $1 AND name <> ALL ($2::text[])
