    SELECT m.job AS id FROM ratchet.member m
    WHERE m.graph = (SELECT g.graph FROM ratchet.job_group g WHERE g.id = $14) AND m.grp = $14 AND ($2::uuid IS NULL OR m.job < $2)
    ORDER BY m.job DESC LIMIT $17
