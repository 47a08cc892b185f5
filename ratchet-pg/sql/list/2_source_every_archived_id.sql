    SELECT j.id FROM ratchet_archive.job j
    WHERE ($2::uuid IS NULL OR j.id < $2)
    ORDER BY j.id DESC LIMIT $17
