    SELECT j.id FROM ratchet_archive.job j
    WHERE j.business_key = $8 AND ($2::uuid IS NULL OR j.id < $2)
    ORDER BY j.id DESC LIMIT $17
