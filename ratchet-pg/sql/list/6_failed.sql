    -- No failed job expires.
    AND $15::bigint IS NULL
ORDER BY o.job
LIMIT $1
