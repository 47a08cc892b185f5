-- One row per name and fingerprint. Locks them, so that two commits do not both open an alert.
SELECT pg_advisory_xact_lock(hashtextextended(__SCOPE__ || 'alert ' || k.text, 0)) FROM unnest($1::text[]) AS k(text)
