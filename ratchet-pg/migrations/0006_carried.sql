-- The arguments of a job that has no more to it than what stands in line: it is claimed without being looked up. Only where
-- its submit has put it: a row that moves leaves them behind.
ALTER TABLE ratchet.ready ADD COLUMN payload bytea;
