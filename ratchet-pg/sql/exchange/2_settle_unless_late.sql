        -- While an earlier run of a job lingers, both runs decide whether the business key is freed. The slow path does
        -- that under a lock.
        AND NOT (l.keyed AND EXISTS (SELECT FROM ratchet.lingering x WHERE x.job = m.job))
