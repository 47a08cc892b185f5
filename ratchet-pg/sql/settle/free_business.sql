-- No rows. Frees keys of ended jobs without a lingering run.
DELETE FROM ratchet.business b
WHERE b.job = ANY($1::uuid[])
    AND EXISTS (SELECT FROM ratchet.outcome o WHERE o.job = b.job OFFSET 0)
    AND NOT EXISTS (SELECT FROM ratchet.lingering x WHERE x.job = b.job)
