-- The W3C trace context of the code that submitted a job: `traceparent`, and `tracestate` after a space. Rows of jobs
-- without one do not grow.
ALTER TABLE ratchet.job ADD COLUMN trace text;
