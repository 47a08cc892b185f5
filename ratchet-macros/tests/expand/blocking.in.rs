#[job(blocking)]
fn shrink(#[inject] images: State<Images>, id: u64) -> anyhow::Result<Vec<u8>> {
    images.shrink(id)
}
