-- One row: the job in whose place this one was submitted, and the job that was submitted in its place.
SELECT
    (SELECT s.original FROM ratchet.successor s WHERE s.successor = $1) AS successor_of,
    (SELECT s.successor FROM ratchet.successor s WHERE s.original = $1) AS successor
