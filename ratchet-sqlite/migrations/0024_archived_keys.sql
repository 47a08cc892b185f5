-- The business keys of archived jobs, to search for them. In the file of the jobs this table is empty, so a submit writes
-- nothing to the index.
ALTER TABLE ratchet_archived ADD COLUMN business_key TEXT;
CREATE INDEX ratchet_archived_business_key ON ratchet_archived (business_key, job) WHERE business_key IS NOT NULL;
UPDATE ratchet_archived SET business_key = (
    SELECT CAST(json_extract(own, '$.business_key') AS TEXT) FROM ratchet_job
    WHERE id = ratchet_archived.job AND scoped_key IS NOT NULL AND json_valid(own)
);
