SELECT clock.now, road.due AS due_waits, road.long, road.next_due,
    NULL::uuid[] AS applied, '{}'::uuid[] AS emptied, '{}'::text[] AS freed,
