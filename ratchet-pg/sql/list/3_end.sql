) s
