-- The arguments of a job that has no more to it than what stands in line: it is claimed without being looked up. Only where
-- its submit has put it: a row that moves leaves them behind.
ALTER TABLE ratchet.ready ADD COLUMN payload bytea;

-- No two entries are alike: looking for such before a page is split is in vain.
ALTER INDEX ratchet.ready_order SET (deduplicate_items = off);
