-- One row if a node still holds runs.
SELECT 1 WHERE EXISTS (SELECT 1 FROM ratchet_job WHERE state = 1 AND node = ?1)
            OR EXISTS (SELECT 1 FROM ratchet_lingering WHERE node = ?1)
