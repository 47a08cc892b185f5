-- Something to publish.
INSERT INTO ratchet_delivery (channel, alert, envelope) VALUES (?1, ?2, ?3)
