-- One row: whether there is a range that can be archived; it is prepared.
SELECT ratchet.prepare_archive_part(ratchet.now_micros() - $1)
