-- Sets when a lane brings back jobs again. NULL if it has brought back jobs that were not claimed yet.
UPDATE ratchet_aside SET back = ?2, brought = ?3 WHERE lane = ?1
