#[job(single_instance)]
async fn reindex(full: bool) {
    let _ = full;
}
