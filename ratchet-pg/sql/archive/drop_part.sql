-- One row: the number of jobs dropped with the oldest partition that was archived this long ago. NULL if there is none.
SELECT ratchet.drop_archive_part(ratchet.now_micros() - $1)
