-- Deletes the links of jobs (a list of seq) that are about to be deleted to their successors.
DELETE FROM ratchet_successor WHERE original IN (SELECT id FROM ratchet_job WHERE seq IN (SELECT value FROM json_each(?1)))
