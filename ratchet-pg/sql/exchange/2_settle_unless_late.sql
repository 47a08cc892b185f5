        -- While an earlier run of a job lingers, whether the business key is freed depends on both: the long way judges
        -- that under a lock.
        AND NOT (l.keyed AND EXISTS (SELECT FROM ratchet.lingering x WHERE x.job = m.job))
