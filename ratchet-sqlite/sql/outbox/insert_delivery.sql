-- Inserts a delivery to be published.
INSERT INTO ratchet_delivery (channel, alert, envelope, job) VALUES (?1, ?2, ?3, ?4)
