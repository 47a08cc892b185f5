SELECT clock.now, coming.due AS due_waits, road.long,
    LEAST(coming.next_due, (SELECT min(b.until) FROM barred b
        WHERE b.until > clock.now AND EXISTS (SELECT FROM asked))) AS next_due,
    NULL::uuid[] AS applied, '{}'::uuid[] AS emptied, '{}'::text[] AS freed,
