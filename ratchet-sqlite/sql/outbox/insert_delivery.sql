-- Something to publish.
INSERT INTO ratchet_delivery (channel, alert, envelope, job) VALUES (?1, ?2, ?3, ?4)
