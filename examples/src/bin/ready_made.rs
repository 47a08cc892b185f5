//! Ready-made jobs: a program, a request, an event and a command. What is not allowed is refused before any work.

use ratchet::WaitError;
use ratchet::prelude::*;
use ratchet_examples::Scratch;
use ratchet_extras::command::{Command, Commands};
use ratchet_extras::event::{Event, Topics};
use ratchet_extras::http::{Http, HttpPolicy};
use ratchet_extras::shell::{Program, Shell, ShellPolicy};
use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Serves `welcome` on a free port of this machine.
async fn serve() -> anyhow::Result<u16> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 1024]).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nwelcome").await;
        }
    });
    Ok(port)
}

/// Runs a job that must be refused, and prints why.
async fn show_refusal<J>(ratchet: &Ratchet, job: J) -> anyhow::Result<()>
where
    J: Job<Output: DeserializeOwned + Send>,
{
    if let Err(WaitError::Failed(envelope)) = ratchet.enqueue(job).await?.wait().await {
        let (failure, attempts) = (&envelope.failure, envelope.attempts);
        println!("{} ({}), attempts: {attempts}", envelope.reason, failure.code);
    }
    Ok(())
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let port = serve().await?;
    let shell = ShellPolicy::builder().program(Program::at("/bin/echo")).build()?;
    let http = HttpPolicy::builder()
        .method("GET")
        .host("127.0.0.1")
        .network("127.0.0.1/32") // not public, so it must be allowed
        .port(port)
        .allow_http()
        .build()?;
    let topics = Topics::builder()
        .subscribe("order.shipped", "mailer", async |_ctx, order: u64| {
            println!("event: order {order} is on its way");
            Ok::<(), std::io::Error>(())
        })
        .build()?;
    let commands = Commands::builder()
        .command("add", async |_ctx, (a, b): (u32, u32)| Ok::<_, std::io::Error>(a + b))
        .build()?;
    let refusals = http.refusals();

    let scratch = Scratch::open("ready-made").await?;
    let ratchet = Ratchet::builder(scratch.store.clone())
        .state(shell)
        .state(http)
        .state(topics)
        .state(commands)
        .build()
        .await?;
    let worker = ratchet.start().await?;

    let echo = Shell::run("/bin/echo").args(["hello; rm -rf /", "$(id)"]);
    print!("shell: {}", ratchet.enqueue(echo).await?.wait().await?.stdout);
    let get = Http::get(format!("http://127.0.0.1:{port}/"));
    let response = ratchet.enqueue(get).await?.wait().await?;
    println!("http: {} {}", response.status, response.body.text().unwrap_or_default());
    ratchet.enqueue(Event::publish("order.shipped", &7)?).await?.wait().await?;
    let sum = ratchet.enqueue(Command::call("add", &(2, 3))?).await?.wait().await?;
    println!("command: {sum}");

    show_refusal(&ratchet, Shell::run("/bin/sh").args(["-c", "id"])).await?;
    show_refusal(&ratchet, Shell::run("/bin/echo").arg("--version")).await?;
    show_refusal(&ratchet, Http::get("http://169.254.169.254/latest/meta-data/")).await?;
    show_refusal(&ratchet, Event::publish("order.lost", &7)?).await?;
    show_refusal(&ratchet, Command::call("add", &("2", "3"))?).await?;
    println!("refused requests: {:?}", refusals.by_reason());
    worker.stop().await;
    Ok(())
}
