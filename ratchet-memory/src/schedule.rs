//! Schedules of recurring jobs, fenced by their versions.

use jiff::Timestamp;

use super::tables::Tables;
use ratchet_store::model::{
    DroppedChild, Inserted, ScheduleRecord, ScheduleWritten, WriteSchedule,
};

impl Tables {
    pub(super) fn due_schedules(&self, limit: u32, now: Timestamp) -> Vec<ScheduleRecord> {
        let is_due =
            |it: &&ScheduleRecord| !it.is_stopped() && it.next.is_some_and(|next| next <= now);
        let mut due: Vec<_> = self.schedules.values().filter(is_due).cloned().collect();
        due.sort_by(|a, b| (a.next, &a.name).cmp(&(b.next, &b.name)));
        due.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        due
    }

    pub(super) fn write_schedule(
        &mut self,
        write: WriteSchedule,
        now: Timestamp,
    ) -> ScheduleWritten {
        let WriteSchedule { name, replaces, record, declarations, jobs, notices } = write;
        let version = self.schedules.get(&name).map(|schedule| schedule.version);
        let renamed = record.as_ref().map(|record| &record.name).filter(|new| **new != name);
        if version != replaces
            || renamed.is_some_and(|new| self.schedules.contains_key(new))
            || declarations.is_some_and(|declarations| !self.nodes.are_newest(&declarations))
        {
            return ScheduleWritten::Stale;
        }
        self.schedules.remove(&name);
        if let Some(mut record) = record {
            record.version = version.unwrap_or(0) + 1;
            self.schedules.insert(record.name.clone(), record);
        }
        let (mut created, mut dropped) = (Vec::new(), Vec::new());
        for job in jobs {
            let (id, name) = (job.id, job.spec.name.clone());
            match self.insert(vec![job], now).as_deref() {
                Ok([Inserted::Created(id)]) => created.push(*id),
                Ok(_) => {}
                Err(refused) => dropped.push(DroppedChild { id, name, why: refused.to_string() }),
            }
        }
        self.outbox.record(notices, now);
        ScheduleWritten::Written { created, dropped }
    }
}
