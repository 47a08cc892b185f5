-- The jobs of a state that were archived before an instant, oldest first, as seq of the archive. A job whose move has not
-- ended stays.
SELECT (SELECT seq FROM main.ratchet_job WHERE id = archived.job) FROM main.ratchet_archived AS archived
WHERE archived.state = ?1 AND archived.at <= ?2
    AND NOT EXISTS (SELECT 1 FROM main.ratchet_archiving WHERE job = archived.job)
ORDER BY archived.at, archived.job LIMIT ?3
