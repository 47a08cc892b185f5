/// Runs at night.
#[job(cron = "0 3 * * MON-FRI", tz = "Europe/Berlin", soft_timeout = "10m", priority = low, panic = "dlq")]
async fn report(#[job(default)] day: Option<u32>) {
    let _ = day;
}
