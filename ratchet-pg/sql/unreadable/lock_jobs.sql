-- These jobs, locked: whoever mends one of them at this moment is waited for, or waits.
SELECT j.id FROM ratchet.job j WHERE j.id = ANY($1::uuid[]) ORDER BY j.id FOR UPDATE
