-- The record of a job that could not be read, by its id or its substitute.
SELECT seq, cause, why FROM ratchet_unreadable WHERE id = ?1
