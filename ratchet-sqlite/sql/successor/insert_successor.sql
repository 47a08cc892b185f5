-- Links a job to its successor.
INSERT INTO ratchet_successor (original, successor) VALUES (?1, ?2)
