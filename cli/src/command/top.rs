//! `ojs top`: queues and workers, live, in a terminal.
use std::io::{IsTerminal, Write, stdout};
use std::time::Duration;

use clap::Args;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, read};
use crossterm::{cursor, execute, queue, style, terminal};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::failure::Failure;
use crate::output::{items, print, rows, text};
use crate::remote::Remote;

const EXAMPLES: &str = "\
Keys: q ends it · s sorts by the next column · p holds the picture
Without a terminal it prints one picture and ends.

Examples:
  ojs top
  ojs top --interval 5
  ojs top --json | jq .stats.jobs";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Top {
    /// Seconds between two looks.
    #[arg(long, value_name = "SECONDS", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    interval: u64,
}

/// What the queues are sorted by.
const ORDERS: [(&str, &str); 4] =
    [("available", "/counts/available"), ("active", "/counts/active"), ("retryable", "/counts/retryable"), ("name", "")];

/// One look at the server.
struct Picture {
    stats: Value,
    queues: Value,
    workers: Value,
}

/// Shows the server until `q`.
///
/// # Errors
/// No answer at the first look, a terminal that cannot be written to.
pub async fn run(command: Top, remote: Remote) -> Result<(), Failure> {
    let first = look(&remote).await?;
    if remote.output.json {
        return print(
            &json!({"stats": first.stats, "queues": first.queues.get("items"), "workers": first.workers.get("items")})
                .to_string(),
        );
    }
    if !stdout().is_terminal() {
        return print(&lines(&first, 0, None).join("\n"));
    }
    let screen = Screen::open().map_err(cannot)?;
    let shown = live(&command, &remote, first).await;
    drop(screen);
    shown
}

async fn live(command: &Top, remote: &Remote, mut picture: Picture) -> Result<(), Failure> {
    let (mut order, mut held, mut fault) = (0, false, None);
    let mut keys = keys();
    let mut ticks = tokio::time::interval(Duration::from_secs(command.interval));
    // The first picture is there already.
    ticks.reset();
    loop {
        draw(&lines(&picture, order, fault.as_deref())).map_err(cannot)?;
        tokio::select! {
            key = keys.recv() => match key {
                Some(Key::Sort) => order = (order + 1) % ORDERS.len(),
                Some(Key::Hold) => held = !held,
                Some(Key::Redraw) => {}
                Some(Key::Quit) | None => return Ok(()),
            },
            _ = ticks.tick(), if !held => match look(remote).await {
                Ok(seen) => (picture, fault) = (seen, None),
                // A server that is started again comes back.
                Err(failure) => fault = Some(failure.in_one_line()),
            },
        }
    }
}

async fn look(remote: &Remote) -> Result<Picture, Failure> {
    let stats = remote.get("/admin/stats").await?.value;
    let queues = remote.get("/admin/queues?per_page=100").await?.value;
    let workers = remote.get("/admin/workers?per_page=100").await?.value;
    Ok(Picture { stats, queues, workers })
}

fn lines(picture: &Picture, order: usize, fault: Option<&str>) -> Vec<String> {
    let stats = |path: &str| text(&picture.stats, path);
    let mut out = vec![
        format!(
            "jobs: {} available, {} active, {} scheduled, {} retryable, {} dead letters",
            stats("/jobs/available"),
            stats("/jobs/active"),
            stats("/jobs/scheduled"),
            stats("/jobs/retryable"),
            stats("/dead_letters"),
        ),
        format!(
            "pace: {} enqueued/min, {} processed/min, {} failed/min, {} workers",
            stats("/throughput/enqueued_per_minute"),
            stats("/throughput/processed_per_minute"),
            stats("/throughput/failed_per_minute"),
            stats("/workers"),
        ),
        fault.map_or_else(String::new, |fault| format!("no answer: {fault}")),
    ];
    let (_, path) = ORDERS.get(order).copied().unwrap_or_default();
    let mut queues: Vec<&Value> = items(&picture.queues, "/items").iter().collect();
    let figure = |queue: &Value| queue.pointer(path).and_then(Value::as_i64).unwrap_or(0);
    queues.sort_by(|a, b| figure(b).cmp(&figure(a)).then_with(|| text(a, "/name").cmp(&text(b, "/name"))));
    let queue = |value: &&Value| {
        let paths = [
            "/name",
            "/state",
            "/counts/available",
            "/counts/active",
            "/counts/scheduled",
            "/counts/retryable",
            "/latency_ms/p99",
        ];
        paths.iter().map(|path| text(value, path)).collect()
    };
    let heading = ["queue", "state", "available", "active", "scheduled", "retryable", "p99 ms"];
    out.extend(rows(&heading, queues.iter().map(queue)).lines().map(str::to_owned));
    out.push(String::new());
    let worker =
        |value: &Value| ["/id", "/state", "/active_jobs", "/concurrency", "/hostname"].map(|path| text(value, path)).to_vec();
    let heading = ["worker", "state", "active", "slots", "host"];
    out.extend(rows(&heading, items(&picture.workers, "/items").iter().map(worker)).lines().map(str::to_owned));
    out
}

fn draw(lines: &[String]) -> std::io::Result<()> {
    let (width, height) = terminal::size().unwrap_or((80, 24));
    let mut out = stdout().lock();
    queue!(out, terminal::BeginSynchronizedUpdate, cursor::MoveTo(0, 0))?;
    for (line, row) in lines.iter().zip(0..height.saturating_sub(1)) {
        let cut: String = line.chars().filter(|c| !c.is_control()).take(width.into()).collect();
        queue!(out, cursor::MoveTo(0, row), style::Print(cut), terminal::Clear(terminal::ClearType::UntilNewLine))?;
    }
    queue!(out, terminal::Clear(terminal::ClearType::FromCursorDown), cursor::MoveTo(0, height.saturating_sub(1)))?;
    queue!(out, style::Print("q quit · s sort · p hold"), terminal::EndSynchronizedUpdate)?;
    out.flush()
}

fn cannot(error: std::io::Error) -> Failure {
    Failure::setting(format!("cannot use the terminal: {error}"))
}

/// The other screen of the terminal, without echo; given back however the command ends.
struct Screen;

impl Screen {
    fn open() -> std::io::Result<Self> {
        terminal::enable_raw_mode()?;
        let screen = Self;
        execute!(stdout(), terminal::EnterAlternateScreen, cursor::Hide, terminal::Clear(terminal::ClearType::All))?;
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = execute!(stdout(), terminal::LeaveAlternateScreen, cursor::Show);
        let _ = terminal::disable_raw_mode();
    }
}

/// What a key asks for.
enum Key {
    Quit,
    Sort,
    Hold,
    Redraw,
}

/// Keys as they come. The thread ends with the process: reading a terminal cannot be broken off.
fn keys() -> mpsc::UnboundedReceiver<Key> {
    let (sender, receiver) = mpsc::unbounded_channel();
    let reading = move || {
        while let Ok(event) = read() {
            let key = match event {
                Event::Key(KeyEvent { code, modifiers, kind: KeyEventKind::Press, .. }) => match code {
                    KeyCode::Char('q') | KeyCode::Esc => Key::Quit,
                    KeyCode::Char('c') if modifiers.contains(KeyModifiers::CONTROL) => Key::Quit,
                    KeyCode::Char('s') => Key::Sort,
                    KeyCode::Char('p') => Key::Hold,
                    _ => continue,
                },
                Event::Resize(..) => Key::Redraw,
                _ => continue,
            };
            if sender.send(key).is_err() {
                return;
            }
        }
    };
    drop(std::thread::Builder::new().name("ojs-keys".to_owned()).spawn(reading));
    receiver
}
