-- One row: how many ranges were made, each so long, until so far ahead.
SELECT ratchet.make_parts($1, $2)
