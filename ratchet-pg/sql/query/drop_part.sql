-- One row: the number of jobs dropped with the oldest partition whose successes are this old. NULL if there is none, -1
-- if too many jobs must be kept.
SELECT ratchet.drop_part(ratchet.now_micros() - $1, $2)
