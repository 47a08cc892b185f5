//! Schedules of recurring jobs, fenced by their versions.

use jiff::Timestamp;

use super::tables::Tables;
use ratchet_store::model::{
    DroppedChild, Inserted, ScheduleRecord, ScheduleWritten, WriteSchedule,
};

impl Tables {
    pub(super) fn due_schedules(&self, limit: u32, now: Timestamp) -> Vec<ScheduleRecord> {
        let is_due = |it: &&ScheduleRecord| !it.paused && it.next.is_some_and(|next| next <= now);
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
        let WriteSchedule { name, replaces, record, jobs } = write;
        let version = self.schedules.get(&name).map(|schedule| schedule.version);
        if version != replaces {
            return ScheduleWritten::Stale;
        }
        match record {
            Some(mut record) => {
                record.version = version.unwrap_or(0) + 1;
                self.schedules.insert(name, record);
            }
            None => drop(self.schedules.remove(&name)),
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
        ScheduleWritten::Written { created, dropped }
    }
}
