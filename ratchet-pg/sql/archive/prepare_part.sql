-- One row: how many tables of the oldest partition are not prepared for the archive yet, after one of them was prepared.
-- NULL if there is no partition whose successes are this old.
SELECT ratchet.prepare_archive_part(ratchet.now_micros() - $1)
