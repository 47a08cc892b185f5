//! Signs and encrypts schedules. The signature covers the name of the schedule and its job, not when it fires.

use ratchet_keyring::KeyError;
use ratchet_store::StoreError;
use ratchet_store::model::{ScheduleRecord, WriteSchedule};

use super::message::Owner;
use super::{Protector, refused};

impl Protector {
    /// Signs and encrypts a schedule and the jobs that are inserted with it.
    pub(super) async fn protect_write(&self, write: &mut WriteSchedule) -> Result<(), StoreError> {
        if let Some(record) = &mut write.record {
            let owner = Owner::Schedule(&record.name);
            let spec = self.with_keys(|| self.protected(owner, &record.spec)).await;
            record.spec = spec.map_err(|error| refused(&error))?;
        }
        for job in &mut write.jobs {
            self.protect(job, false).await.map_err(|error| refused(&error))?;
        }
        Ok(())
    }

    /// Verifies and decrypts a schedule. One that must not fire is marked with the reason, and is otherwise as stored.
    pub(super) async fn open_schedule(&self, schedule: &mut ScheduleRecord) {
        let owner = Owner::Schedule(&schedule.name);
        let opened = self.with_keys(|| self.opened(owner, &schedule.spec)).await;
        let mark = |error: &KeyError| self.refused(&schedule.spec, error).protection;
        match opened {
            Ok(spec) if spec.protection.refusal().is_none() => schedule.spec = spec,
            Ok(spec) => schedule.spec.protection = spec.protection,
            Err(error) => schedule.spec.protection = mark(&error),
        }
    }
}
