-- Deletes the edges of jobs (a list of seq) that are about to be deleted.
DELETE FROM ratchet_edge WHERE parent IN (
    SELECT CAST(x'00' || id AS BLOB) FROM ratchet_job WHERE linked = 1 AND seq IN (SELECT value FROM json_each(?1))
)
