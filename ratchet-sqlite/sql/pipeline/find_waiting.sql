-- A hand-off that is not finished: the job that handed it over, and when.
SELECT job, at FROM ratchet_hand_off WHERE pipeline = ?1 AND key = ?2 AND finished = 0
