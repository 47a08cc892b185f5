-- Moves due jobs of a template into the line, oldest first, up to a limit.
UPDATE ratchet_job SET ready = 1 WHERE seq IN (
    SELECT seq FROM ratchet_job WHERE template = ?1 AND state = 0 AND ready = 0 AND due <= ?2 ORDER BY due LIMIT ?3
)
