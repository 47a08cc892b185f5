//! Runs the engine and the handlers of one node in the executor of the simulation.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ratchet_core::{Clock as _, Spawn, Task};
use tokio::runtime::Handle;

use crate::exec::Owner;
use crate::world::World;

/// The spawner of one incarnation of a node.
pub(crate) struct NodeSpawn {
    pub(crate) world: Arc<World>,
    pub(crate) owner: Owner,
}

impl fmt::Debug for NodeSpawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeSpawn").field("owner", &self.owner).finish_non_exhaustive()
    }
}

impl Spawn for NodeSpawn {
    fn engine(&self, task: Task, _: Option<Handle>) -> std::io::Result<()> {
        self.world.spawn(self.owner, task);
        Ok(())
    }

    fn handler(&self, task: Task) {
        self.world.spawn(self.owner, task);
    }

    /// Simulates a thread that starts its work late, sometimes after the job's timeout.
    fn blocking(&self, work: Box<dyn FnOnce() + Send>) {
        let millis = self.world.random(|rng| if rng.u8(..3) == 0 { rng.u64(..4000) } else { 5 });
        let thread = self.world.clock.sleep(Duration::from_millis(millis));
        self.world.spawn(
            self.owner,
            Box::pin(async move {
                thread.await;
                work();
            }),
        );
    }
}
