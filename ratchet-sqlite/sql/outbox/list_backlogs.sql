-- One row per channel that has deliveries: the oldest one, with its alert if it has one, and their number, at most ?1.
SELECT delivery.channel, delivery.envelope, alert.job, alert.name, alert.fingerprint, alert.message, alert.at,
       alert.suppressed,
       (SELECT count(*) FROM (SELECT 1 FROM ratchet_delivery AS other WHERE other.channel = channel.value LIMIT ?1))
FROM json_each('[0, 1, 2]') AS channel
JOIN ratchet_delivery AS delivery ON delivery.number = (
    SELECT min(first.number) FROM ratchet_delivery AS first WHERE first.channel = channel.value
)
LEFT JOIN ratchet_alert AS alert ON alert.number = delivery.alert
