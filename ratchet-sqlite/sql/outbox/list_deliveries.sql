-- Deliveries that may be handed out, oldest first. A delivery of a job waits until all earlier deliveries of the same
-- job are acknowledged.
SELECT delivery.number, delivery.envelope, alert.job, alert.name, alert.fingerprint, alert.message, alert.at,
       alert.suppressed
FROM ratchet_delivery AS delivery LEFT JOIN ratchet_alert AS alert ON alert.number = delivery.alert
WHERE delivery.channel = ?1 AND (delivery.held_until IS NULL OR delivery.held_until <= ?2)
  AND (delivery.job IS NULL OR NOT EXISTS (
      SELECT 1 FROM ratchet_delivery AS before WHERE before.job = delivery.job AND before.number < delivery.number
  ))
ORDER BY delivery.number LIMIT ?3
