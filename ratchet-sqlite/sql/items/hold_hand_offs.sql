-- Holds checkpoints (a list of numbers) that were taken.
UPDATE ratchet_hand_off SET held_until = ?2 WHERE number IN (SELECT value FROM json_each(?1))
