//! Programs with mistakes are in `fail`, programs that must compile in `tests/accepted`; see `tests/ui.rs`.
