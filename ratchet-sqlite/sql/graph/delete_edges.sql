-- The edges of jobs that are about to be deleted (a list of seq).
DELETE FROM ratchet_edge WHERE parent IN (
    SELECT CAST(x'00' || id AS BLOB) FROM ratchet_job WHERE linked = 1 AND seq IN (SELECT value FROM json_each(?1))
)
