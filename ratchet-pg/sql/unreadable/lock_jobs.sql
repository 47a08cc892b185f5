-- These jobs, locked, so that a concurrent repair of a row is either visible or waits.
SELECT j.id FROM ratchet.job j WHERE j.id = ANY($1::uuid[]) ORDER BY j.id FOR UPDATE
