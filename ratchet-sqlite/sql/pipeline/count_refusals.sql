-- Counts refusals of a full pipeline.
UPDATE ratchet_pipeline SET refusals = refusals + ?2 WHERE name = ?1
