//! The dashboard on a shop with jobs in every state.

mod access;
mod actions;
mod api;
mod browser;
mod contrast;
mod crawl;
mod hostile;
mod html;
mod links;
mod live;
mod secrets;
mod shop;
mod site;
mod smoke;
