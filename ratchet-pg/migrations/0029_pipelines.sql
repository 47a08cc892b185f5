-- Who hands a checkpoint over. What earlier versions hand over has neither.
ALTER TABLE ratchet.hand_off ADD COLUMN tenant text, ADD COLUMN correlation_id text;

-- The pipelines that a job accepts.
CREATE TABLE ratchet.pipeline (
    name text PRIMARY KEY,
    program text NOT NULL,
    job text NOT NULL,
    backlog_limit bigint,
    -- How many hand-offs and runs were refused because the pipeline was full.
    refusals bigint NOT NULL DEFAULT 0
);

-- The hand-offs that were admitted as jobs. Their rows in `hand_off` are finished, also for earlier versions.
CREATE TABLE ratchet.admission (
    number bigint GENERATED ALWAYS AS IDENTITY,
    job uuid PRIMARY KEY,
    pipeline text NOT NULL,
    key text NOT NULL,
    handed_by uuid NOT NULL,
    handed_at bigint NOT NULL,
    at bigint NOT NULL,
    -- Whether it counts toward the backlog while its job has not ended.
    open boolean NOT NULL DEFAULT true
) WITH (fillfactor = 90);
CREATE INDEX admission_open ON ratchet.admission (pipeline) WHERE open;
CREATE INDEX admission_latest ON ratchet.admission (pipeline, number);
