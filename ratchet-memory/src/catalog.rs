//! The catalog.

use jiff::Timestamp;
use ratchet_store::model::{CatalogRecord, NodeInfo};
use ratchet_store::rules::catalog;

use super::tables::Tables;

impl Tables {
    /// Records the entries of a node that joins.
    pub(super) fn record_catalog(&mut self, node: &NodeInfo, now: Timestamp) {
        let now = Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now);
        let program = &node.declarations.program;
        for entry in node.catalog.iter() {
            let digest = catalog::digest(entry);
            let key = (entry.name.clone(), program.clone(), entry.version, digest.clone());
            let record = self.catalog.entry(key).or_insert_with(|| {
                CatalogRecord::stored(
                    program.clone(),
                    String::new(),
                    digest,
                    entry.clone(),
                    now,
                    now,
                )
            });
            record.binary_version.clone_from(&node.binary_version);
            record.last_seen = now;
        }
        if !node.catalog.is_empty() {
            let kept = now.checked_sub(catalog::KEPT).unwrap_or(Timestamp::MIN);
            self.catalog.retain(|_, record| record.last_seen >= kept);
        }
    }

    pub(super) fn list_catalog(&self) -> Vec<CatalogRecord> {
        let mut records: Vec<_> = self.catalog.values().cloned().collect();
        records.sort_by(|a, b| {
            let name = (&a.entry.name, &a.program).cmp(&(&b.entry.name, &b.program));
            let newest = b.last_seen.cmp(&a.last_seen);
            name.then(newest)
                .then_with(|| b.entry.version.cmp(&a.entry.version))
                .then_with(|| a.digest.cmp(&b.digest))
        });
        records
    }
}
