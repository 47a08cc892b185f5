    -- Leaves out jobs that cannot match a condition that is compared later, because reading a whole job takes longer. A text can
    -- be written in several ways in JSON, but only with a backslash. The attempts of a job that has not ended are elsewhere.
    AND (
        cardinality($19::text[]) = 0 OR position('\x5c'::bytea IN j.payload) > 0
        OR NOT EXISTS (SELECT FROM unnest($19) AS t(wanted) WHERE position(convert_to(t.wanted, 'UTF8') IN j.payload) = 0)
    )
    AND ($20::bigint IS NULL OR o.job IS NULL OR o.attempts > $20)
