-- Deletes the hand-offs of a job.
DELETE FROM ratchet_hand_off WHERE job = ?1
