-- Partitions belong to the owner of the tables, and a user that may only submit needs no table. So these functions run with
-- the rights of the owner, with a search path that the caller cannot change. A user needs an explicit grant to call them.

ALTER FUNCTION ratchet.make_parts(bigint, bigint) SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION ratchet.drop_part(bigint, integer) SECURITY DEFINER SET search_path = pg_catalog, pg_temp;
ALTER FUNCTION ratchet.enqueue(text, jsonb, text, integer, timestamptz, text, text, text, text[], integer, text, text, interval, timestamptz)
    SECURITY DEFINER SET search_path = pg_catalog, pg_temp;

REVOKE EXECUTE ON FUNCTION ratchet.make_parts(bigint, bigint) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION ratchet.drop_part(bigint, integer) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION
    ratchet.enqueue(text, jsonb, text, integer, timestamptz, text, text, text, text[], integer, text, text, interval, timestamptz)
    FROM PUBLIC;
