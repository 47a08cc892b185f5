-- Deletes the admission of a hand-off.
DELETE FROM ratchet_admission WHERE handed_by = ?1 AND pipeline = ?2 AND key = ?3
