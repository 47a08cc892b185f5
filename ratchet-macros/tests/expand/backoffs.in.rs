#[job(backoff = none)]
async fn at_once() {}

#[job(backoff = fixed("500ms"))]
async fn steady() {}

#[job(backoff = linear("5s", max = "1m", jitter = none))]
async fn growing() {}

#[job(backoff = exponential("1s", factor = 3, max = "1h30m", jitter = full))]
async fn fast() {}

#[job(backoff = POLICY)]
async fn constant() {}
