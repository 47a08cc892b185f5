//! The dashboard on a shop with jobs in every state.

mod shop;
mod site;
mod smoke;
