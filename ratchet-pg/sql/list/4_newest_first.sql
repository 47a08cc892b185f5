    AND $15::bigint IS NULL
ORDER BY j.id DESC
LIMIT $1
