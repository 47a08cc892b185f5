/// Runs at night.
#[job(cron = "0 3 * * MON-FRI", tz = "Europe/Berlin", soft_timeout = "10m", delay = "1s", priority = low, panic = "dlq")]
async fn report(#[job(default)] day: Option<u32>) {
    let _ = day;
}
