-- No rows. Sets the last jobs of these sequences, whose graphs are locked.
UPDATE ratchet.graph g SET last = s.last FROM unnest($1::uuid[], $2::uuid[]) AS s(id, last) WHERE g.id = s.id
