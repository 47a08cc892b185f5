-- One row. Nodes that join at the same time decide one after the other whether they leave a mark.
SELECT pg_advisory_xact_lock(hashtextextended(__HOME__ || ' deploys', 0))
