//! Everything a job may return; nothing is decided by how it is spelled.
#![deny(warnings)]

use std::error::Error;

use ratchet::{Job, JobError, job};

#[derive(Debug, thiserror::Error)]
#[error("own")]
pub struct Own;

type Outcome<T> = Result<T, Own>;
type Done = Outcome<()>;
type Boxed = Box<dyn Error + Send + Sync>;

#[job]
pub async fn nothing() {}

#[job]
#[allow(clippy::unused_unit)]
pub async fn unit() -> () {}

#[job]
pub async fn value() -> u32 {
    5
}

#[job(struct_name = OptionJob)]
pub async fn option() -> Option<String> {
    None
}

#[job(struct_name = OwnJob)]
pub async fn own() -> Result<u32, Own> {
    Ok(5)
}

#[job]
pub async fn alias() -> Outcome<u32> {
    Ok(5)
}

#[job]
pub async fn alias_of_alias() -> Done {
    Ok(())
}

#[job]
pub async fn any_how() -> anyhow::Result<u32> {
    Ok(5)
}

#[job]
pub async fn any_eyre() -> eyre::Result<u32> {
    Ok(5)
}

#[job(struct_name = BoxedJob)]
pub async fn boxed() -> Result<u32, Boxed> {
    Ok(5)
}

#[job(struct_name = ErrorJob)]
pub async fn job_error() -> Result<u32, JobError> {
    Ok(5)
}

#[job]
pub async fn std_error() -> Result<u32, std::io::Error> {
    Ok(5)
}

#[job(blocking)]
pub fn blocking() -> anyhow::Result<String> {
    Ok(String::new())
}

fn output<J: Job<Output = T>, T>(_: J) {}

#[test]
fn runs() {
    output::<_, ()>(Nothing);
    output::<_, ()>(Unit);
    output::<_, u32>(Value);
    output::<_, Option<String>>(OptionJob);
    output::<_, u32>(OwnJob);
    output::<_, u32>(Alias);
    output::<_, ()>(AliasOfAlias);
    output::<_, u32>(AnyHow);
    output::<_, u32>(AnyEyre);
    output::<_, u32>(BoxedJob);
    output::<_, u32>(ErrorJob);
    output::<_, u32>(StdError);
    output::<_, String>(Blocking);
}
