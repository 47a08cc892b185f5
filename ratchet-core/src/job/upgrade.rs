//! The functions given with `#[job(version = 3, upgrade(1 => from_v1, 2 => from_v2))]`.

use std::fmt;

use serde::de::DeserializeOwned;

use super::{DecodeError, Decoder};

/// A function from the arguments of an older version to the job `J`.
///
/// `O` is the type of the old arguments. The marker `M` distinguishes a function that returns the job ([`Upgrades`])
/// from one that can refuse ([`MayRefuse`]).
#[diagnostic::on_unimplemented(
    message = "`upgrade` must name a `fn(Old) -> {J}`",
    label = "this function has another signature",
    note = "it takes the arguments as they were in that version, a type with `#[derive(serde::Deserialize)]`, and returns `{J}` or `Result<{J}, impl Display>`"
)]
pub trait Upgrade<O, J, M> {
    #[doc(hidden)]
    fn upgrade(self, old: O) -> Result<J, String>;
}

/// Marker of [`Upgrade`]: the function returns the job.
#[derive(Debug)]
pub struct Upgrades;

/// Marker of [`Upgrade`]: the function can refuse the arguments.
#[derive(Debug)]
pub struct MayRefuse<E>(std::marker::PhantomData<E>);

#[diagnostic::do_not_recommend]
impl<O, J, F: FnOnce(O) -> J> Upgrade<O, J, Upgrades> for F {
    fn upgrade(self, old: O) -> Result<J, String> {
        Ok(self(old))
    }
}

#[diagnostic::do_not_recommend]
impl<O, J, E: fmt::Display, F: FnOnce(O) -> Result<J, E>> Upgrade<O, J, MayRefuse<E>> for F {
    fn upgrade(self, old: O) -> Result<J, String> {
        self(old).map_err(|error| error.to_string())
    }
}

/// The arguments of an older version: any type that serde can deserialize.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of an older version",
    label = "takes a type that cannot be read back",
    note = "add `#[derive(serde::Deserialize)]` to it"
)]
pub trait OldArguments: Sized {
    #[doc(hidden)]
    fn read(json: &[u8]) -> Result<Self, serde_json::Error>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> OldArguments for T {
    fn read(json: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(json)
    }
}

/// Reads the arguments of an older version and upgrades them. Only this function requires [`Upgrade`] and
/// [`OldArguments`].
pub fn upgraded<O, J, M, F>(
    upgrade: F,
    version: u32,
    args: &mut Decoder<'_>,
) -> Option<Result<J, DecodeError>>
where
    O: OldArguments,
    F: Upgrade<O, J, M>,
{
    let refused = |why: String| DecodeError::Upgrade { version, why };
    let old = match O::read(args.take_all()) {
        Ok(old) => old,
        Err(error) => return Some(Err(refused(error.to_string()))),
    };
    Some(upgrade.upgrade(old).map_err(refused))
}

/// Refuses arguments that are older than every upgrade function.
pub fn too_old<J>(version: u32, oldest: u32) -> Option<Result<J, DecodeError>> {
    Some(Err(DecodeError::TooOld { version, oldest }))
}
