//! HTML: the frame of a page and the parts that pages share.

mod frame;
mod parts;
mod state;
mod table;

pub(crate) use frame::{Page, problem_page};
pub(crate) use parts::{
    button, card, command_line, definition, empty, hint, id, job_link, prose, search, text, time,
    time_or,
};
pub(crate) use state::{breaker_chip, chip, group_chip, look, outcome_chip, state_chip};
pub(crate) use table::Table;
