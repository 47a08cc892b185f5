use std::cell::RefCell;
use std::rc::Rc;

use ratchet::job;
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

#[job]
pub async fn add(by: u32, count: Count) -> u32;

fn main() {}
