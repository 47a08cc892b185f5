-- One row: the number of jobs archived with the oldest partition whose successes are this old. NULL if there is none, -1 if
-- too many jobs must be kept, -2 if the locks were not available.
SELECT ratchet.archive_part(ratchet.now_micros() - $1, $2)
