-- One job, by its place in the table.
SELECT * FROM ratchet_job WHERE seq = ?1
