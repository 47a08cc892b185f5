//! The dashboard on a shop with jobs in every state.

mod access;
mod accessibility;
mod actions;
mod api;
mod archive;
mod browser;
mod contrast;
mod crawl;
mod crawler;
mod erasures;
mod hostile;
mod html;
mod inventory;
mod links;
mod lists;
mod live;
mod rejects;
mod shop;
mod site;
mod smoke;
