#[derive(Debug, thiserror::Error)]
enum PayError {
    #[error("timed out")]
    Timeout,
    #[error("declined")]
    Declined,
    #[error("unknown card {0}")]
    Unknown(u32),
}
#[allow(unused_qualifications)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    const __PERMANENT: __ratchet::PermanentError = __ratchet::PermanentError::new(|
        layer|
    match __ratchet::permanent::<PayError>(layer)? {
        PayError::Declined { .. } => __ratchet::Option::Some("the issuer said no"),
        PayError::Unknown { .. } => {
            __ratchet::Option::Some("`PayError::Unknown` is marked `#[do_not_retry]`")
        }
        _ => __ratchet::Option::None,
    });
    __ratchet::submit! {
        __PERMANENT
    }
};
