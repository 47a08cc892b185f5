-- No rows. Inserts edges.
INSERT INTO ratchet.edge (parent, ordinal, child, parent_group, child_group, condition)
SELECT * FROM unnest($1::uuid[], $2::integer[], $3::uuid[], $4::boolean[], $5::boolean[], $6::text[])
