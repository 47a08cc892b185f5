-- What may be handed out, oldest first.
SELECT delivery.number, delivery.envelope, alert.job, alert.name, alert.fingerprint, alert.message, alert.at,
       alert.suppressed
FROM ratchet_delivery AS delivery LEFT JOIN ratchet_alert AS alert ON alert.number = delivery.alert
WHERE delivery.channel = ?1 AND (delivery.held_until IS NULL OR delivery.held_until <= ?2)
ORDER BY delivery.number LIMIT ?3
