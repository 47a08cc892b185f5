-- A copy of the whole database, in one state.
VACUUM INTO ?1
