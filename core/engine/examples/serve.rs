//! The engine behind a socket in a few lines: `cargo run -p ojs-engine --example serve -- sqlite:jobs.db 127.0.0.1:8080`.
use ojs_engine::{Engine, EngineOptions, Server};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let store = args.next().unwrap_or_else(|| "memory:".to_owned());
    let address = args.next().unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let mut options = EngineOptions::new(store.parse()?);
    options.test_mode = args.next().as_deref() == Some("--test-mode");
    let server = Server::bind(Engine::open(options).await?, &address).await?;
    println!("listening on http://{}", server.local_addr());
    server.run(std::future::pending()).await;
    Ok(())
}
