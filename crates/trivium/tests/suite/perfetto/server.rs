//! A web server for one page: Perfetto's files, the trace, and a script that stands in the page and sends what it finds.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

pub struct Server {
    address: SocketAddr,
    found: Receiver<Value>,
}

#[derive(Clone)]
struct Files {
    viewer: PathBuf,
    trace: PathBuf,
    script: &'static str,
    found: Sender<Value>,
}

impl Server {
    pub fn new(viewer: &Path, trace: &Path, script: &'static str) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, found) = channel();
        let files = Files { viewer: viewer.into(), trace: trace.into(), script, found: sender };
        // The thread ends with the test's process; a browser leaves connections open, so each has a thread.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let files = files.clone();
                std::thread::spawn(move || files.answer(stream));
            }
        });
        Server { address, found }
    }

    pub fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What the page has sent, if it does within this time.
    pub fn found(&self, within: Duration) -> Option<Value> {
        self.found.recv_timeout(within).ok()
    }
}

impl Files {
    /// Answers one request; a browser that has gone away is no error.
    fn answer(&self, stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(&stream);
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let path = line.split(' ').nth(1)?.split(['?', '#']).next()?.to_string();
        let mut length = 0;
        loop {
            let mut head = String::new();
            reader.read_line(&mut head).ok()?;
            let Some((name, value)) = head.trim().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let answer = match path.as_str() {
            "/found" => {
                self.found.send(serde_json::from_slice(&body).ok()?).ok()?;
                Some(Vec::new())
            }
            "/look.js" => Some(self.script.into()),
            "/trace.json" => std::fs::read(&self.trace).ok(),
            "/" => std::fs::read_to_string(self.viewer.join("index.html"))
                .map(|page| page.replace("</body>", "<script src=\"/look.js\"></script></body>").into_bytes())
                .ok(),
            other => std::fs::read(self.viewer.join(other.trim_start_matches('/'))).ok(),
        };
        let kind = match path.rsplit_once('.').map_or("html", |(_, ending)| ending) {
            "html" => "text/html",
            "js" => "text/javascript",
            "css" => "text/css",
            "json" => "application/json",
            "wasm" => "application/wasm",
            _ => "application/octet-stream",
        };
        let status = if answer.is_some() { "200 OK" } else { "404 Not Found" };
        let content = answer.unwrap_or_default();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            content.len()
        );
        (&stream).write_all(head.as_bytes()).ok()?;
        (&stream).write_all(&content).ok()
    }
}
