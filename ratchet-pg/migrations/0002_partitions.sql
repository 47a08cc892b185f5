-- What belongs to jobs is kept in ranges of their ids, which begin with the milliseconds they were made at: what is old
-- is dropped as a whole. Whatever falls into no range is in the `rest`.

CREATE TABLE ratchet.job_rest PARTITION OF ratchet.job DEFAULT;
CREATE TABLE ratchet.outcome_rest PARTITION OF ratchet.outcome DEFAULT;
CREATE TABLE ratchet.attempt_rest PARTITION OF ratchet.attempt DEFAULT;
CREATE TABLE ratchet.note_rest PARTITION OF ratchet.note DEFAULT;
CREATE TABLE ratchet.log_rest PARTITION OF ratchet.log DEFAULT;

-- The ranges there are. `suffix` is what the names of their tables end in.
CREATE TABLE ratchet.part (
    starts bigint PRIMARY KEY,
    ends bigint NOT NULL,
    suffix text NOT NULL
);

-- The first id of an instant.
CREATE FUNCTION ratchet.id_at(instant bigint) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT (lpad(to_hex(GREATEST(instant, 0) / 1000), 12, '0') || repeat('0', 20))::uuid $$;

-- Makes the ranges from now on until `ahead`, each `width` long. Answers how many it made.
CREATE FUNCTION ratchet.make_parts(width bigint, ahead bigint) RETURNS integer LANGUAGE plpgsql AS $body$
DECLARE
    now_at bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    low bigint;
    high bigint;
    name text;
    base text;
    made integer := 0;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(__HOME__ || ' parts', 0));
    PERFORM set_config('lock_timeout', '500', true);
    low := now_at - now_at % width;
    low := GREATEST(low, (SELECT max(p.ends) FROM ratchet.part p));
    WHILE low < now_at + ahead LOOP
        -- Ends on the grid, also after the width has changed.
        high := low - low % width + width;
        -- Ids that came before their range stay in the rest, and the range is not made.
        IF NOT EXISTS (
            SELECT FROM ratchet.job_rest j WHERE j.id >= ratchet.id_at(low) AND j.id < ratchet.id_at(high)
        ) THEN
            name := to_char(to_timestamp(low / 1000000) AT TIME ZONE 'UTC', 'YYYYMMDD"t"HH24MI');
            FOREACH base IN ARRAY ARRAY['job', 'outcome', 'attempt', 'note', 'log'] LOOP
                -- Made apart, then attached: that lock lets readers and writers go on.
                EXECUTE format('CREATE TABLE %1$I.%2$I (LIKE %1$I.%3$I INCLUDING DEFAULTS)',
                    __HOME__, base || '_' || name, base);
                EXECUTE format('ALTER TABLE %1$I.%3$I ATTACH PARTITION %1$I.%2$I FOR VALUES FROM (%4$L) TO (%5$L)',
                    __HOME__, base || '_' || name, base, ratchet.id_at(low), ratchet.id_at(high));
            END LOOP;
            INSERT INTO ratchet.part (starts, ends, suffix) VALUES (low, high, name);
            made := made + 1;
        END IF;
        low := high;
    END LOOP;
    RETURN made;
END
$body$;
