use std::cell::RefCell;
use std::rc::Rc;

use ratchet::jobs;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

type Shared = Rc<RefCell<u32>>;

pub struct Count(pub Shared);

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.borrow().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Rc::new(RefCell::new(u32::deserialize(deserializer)?))))
    }
}

struct Service;

#[jobs]
impl Service {
    #[job]
    async fn add(&self, by: u32, count: Count) -> u32 {
        by + *count.0.borrow()
    }
}

fn main() {}
