//! The attributes of Ratchet.
