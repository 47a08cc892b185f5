-- Jobs that run in order form a graph per concurrency key. Its row has the last job, for which the next one waits.
ALTER TABLE ratchet.graph ADD COLUMN last uuid;
