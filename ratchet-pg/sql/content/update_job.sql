-- Replaces the arguments, callbacks and finished parent of a job if its arguments are as expected.
UPDATE ratchet.job j SET payload = $3::bytea, extra = $4::text WHERE j.id = $1::uuid AND j.payload = $2::bytea
