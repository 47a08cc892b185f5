-- The job in whose place this one was submitted, and the job that was submitted in its place.
SELECT
  (SELECT original FROM ratchet_successor WHERE successor = ?1) AS successor_of,
  (SELECT successor FROM ratchet_successor WHERE original = ?1) AS successor
