/// Takes the outputs of several steps.
#[job]
pub async fn join(#[input] left: Left, #[input] right: Right, #[input(all)] rest: Vec<Rest>, #[input(step = "first")] first: u32) {}

#[job]
async fn merge(#[input(all)] parts: Vec<Part>) -> u32 { 0 }

#[job]
async fn alias(#[input(all)] parts: Parts) -> u32 { 0 }
