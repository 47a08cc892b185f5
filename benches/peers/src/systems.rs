//! The systems of the comparison and their settings.

/// A library with its adapter. All adapters implement the same protocol (`adapters/common.rs`).
#[derive(Debug, Clone, Copy)]
pub struct System {
    pub name: &'static str,
    /// The folder of its adapter; `None` for adapters in this package.
    pub adapter: Option<&'static str>,
    pub program: &'static str,
    /// The number of jobs per claim: the documented value, or the best measured one.
    pub batch: &'static str,
    /// The number of jobs in a drain. Slow systems get fewer.
    pub drain: usize,
    /// The number of jobs submitted one by one.
    pub single: usize,
    /// Whether it supports bulk submits.
    pub bulk: bool,
    /// Whether a submit wakes a worker.
    pub wakes: bool,
    /// The folder in its crate with migrations that a user must apply.
    pub migrations: Option<&'static str>,
    pub kind: Kind,
    /// Whether it stores jobs in an SQLite file, which is synced with every commit.
    pub embedded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Ours,
    Peer,
    /// The baseline: hand-written SQL of the same structure, with a minimal client.
    Floor,
}

const PEER: System = System {
    name: "",
    adapter: None,
    program: "",
    batch: "500",
    drain: 100_000,
    single: 4_000,
    bulk: true,
    wakes: true,
    migrations: None,
    kind: Kind::Peer,
    embedded: false,
};

pub const POSTGRES: &[System] = &[
    System { name: "ratchet", program: "ours", single: 40_000, kind: Kind::Ours, ..PEER },
    System { name: "raw SQL", program: "raw", single: 0, kind: Kind::Floor, ..PEER },
    System {
        name: "graphile_worker",
        adapter: Some("graphile"),
        program: "peer-graphile",
        batch: "1000",
        ..PEER
    },
    System { name: "awa", adapter: Some("awa"), program: "peer-awa", batch: "512", ..PEER },
    System {
        name: "apalis-postgres",
        adapter: Some("apalis"),
        program: "peer-apalis",
        drain: 50_000,
        ..PEER
    },
    System {
        name: "sqlxmq",
        adapter: Some("sqlxmq"),
        program: "peer-sqlxmq",
        drain: 10_000,
        bulk: false,
        migrations: Some("migrations"),
        ..PEER
    },
    System {
        name: "underway",
        adapter: Some("underway"),
        program: "peer-underway",
        drain: 2_000,
        ..PEER
    },
    System {
        name: "fang",
        adapter: Some("fang"),
        program: "peer-fang",
        drain: 2_000,
        single: 20_000,
        bulk: false,
        wakes: false,
        migrations: Some("postgres_migrations"),
        ..PEER
    },
];

pub const EMBEDDED: &[System] = &[
    System {
        name: "ratchet-sqlite",
        program: "ours",
        single: 40_000,
        kind: Kind::Ours,
        embedded: true,
        ..PEER
    },
    System {
        name: "apalis-sqlite",
        adapter: Some("apalis-sqlite"),
        program: "peer-apalis-sqlite",
        single: 10_000,
        drain: 4_000,
        embedded: true,
        ..PEER
    },
];
