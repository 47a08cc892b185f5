-- Writes a consistent copy of the database.
VACUUM INTO ?1
