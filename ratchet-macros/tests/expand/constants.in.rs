#[job(queue = QUEUE, max_retries = limits::RETRIES, timeout = Duration::from_secs(5), priority = Priority::High, tags(TAG, "b"))]
async fn tuned() {}
