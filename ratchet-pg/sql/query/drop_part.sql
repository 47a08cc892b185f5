-- One row: how many jobs went with the oldest range whose successes are this old; null if there is none, -1 if too many
-- stay.
SELECT ratchet.drop_part(ratchet.now_micros() - $1, $2)
