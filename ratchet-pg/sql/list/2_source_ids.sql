    SELECT j.id FROM ratchet.job j
    WHERE j.id = ANY($16::uuid[]) AND ($2::uuid IS NULL OR j.id < $2)
    ORDER BY j.id DESC LIMIT $17
