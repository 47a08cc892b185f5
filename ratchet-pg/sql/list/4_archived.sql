CROSS JOIN LATERAL (SELECT * FROM ratchet_archive.outcome o WHERE o.job = j.id OFFSET 0) o
WHERE (cardinality($3::smallint[]) = 0 OR o.state = ANY($3))
