#[derive(Debug, thiserror::Error)]
#[error("expired")]
pub struct Expired {
    card: u32,
}
#[allow(unused_qualifications)]
const _: () = {
    use ::ratchet::__private as __ratchet;
    const __PERMANENT: __ratchet::PermanentError = __ratchet::PermanentError::new(|
        layer|
    __ratchet::permanent::<Expired>(layer).map(|_| "the card is expired"));
    __ratchet::submit! {
        __PERMANENT
    }
};
