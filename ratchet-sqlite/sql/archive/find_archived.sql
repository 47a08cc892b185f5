-- The seq of an archived job, in the archive.
SELECT seq FROM main.ratchet_job WHERE id = ?1
