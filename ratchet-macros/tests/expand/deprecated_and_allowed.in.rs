/// Old.
#[job]
#[deprecated = "use `pay`"]
#[expect(unused_variables, reason = "kept for the signature")]
#[inline]
async fn charge(Amount: u32) {}
