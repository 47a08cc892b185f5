    AND ($14::uuid IS NULL OR j.id IN (
        SELECT m.job FROM ratchet.member m
        WHERE m.graph = (SELECT g.graph FROM ratchet.job_group g WHERE g.id = $14) AND m.grp = $14
    ))
