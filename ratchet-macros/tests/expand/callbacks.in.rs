#[job(on_success = receipts::SendReceipt, on_failure = TellSupport, validate = checks::amount)]
async fn pay(amount: u32) -> Result<u32, PayError> {
    Ok(amount)
}
