-- The queue that a lingering run was claimed from. It counts there, even if its job has been moved to another queue since. Null
-- if the row was inserted by an earlier version.
ALTER TABLE ratchet.lingering ADD COLUMN queue text;
UPDATE ratchet.lingering x SET queue = (SELECT j.queue FROM ratchet.job j WHERE j.id = x.job);
