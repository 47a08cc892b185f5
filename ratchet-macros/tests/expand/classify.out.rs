#[derive(Debug, thiserror::Error)]
enum PayError {
    #[error("timed out")]
    Timeout,
    #[error("declined")]
    Declined { by: String },
    #[error("closed")]
    Closed,
}
#[allow(unused_qualifications)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    const __PERMANENT: __ratchet::PermanentError = __ratchet::PermanentError::new(|
        layer|
    match __ratchet::permanent::<PayError>(layer)? {
        PayError::Timeout { .. } => __ratchet::Option::None,
        PayError::Declined { .. } => __ratchet::Option::Some("the issuer said no"),
        PayError::Closed { .. } => __ratchet::Option::None,
    });
    __ratchet::submit! {
        __PERMANENT
    }
    const __CLASSIFIED: __ratchet::ClassifiedError = __ratchet::ClassifiedError::new(|
        layer|
    match __ratchet::permanent::<PayError>(layer)? {
        PayError::Timeout { .. } => __ratchet::Option::None,
        PayError::Declined { .. } => __ratchet::Option::None,
        PayError::Closed { .. } => {
            __ratchet::Option::Some(
                __ratchet::ErrorClass::Snooze(__ratchet::Duration::from_secs(3600)),
            )
        }
    });
    __ratchet::submit! {
        __CLASSIFIED
    }
};
