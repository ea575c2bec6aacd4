//! The binary as it is run: what it prints, how it stops, and the exit codes that it documents.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::Value;

fn turnframe() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_turnframe"));
    for name in ["TURNFRAME_TOKENS", "TURNFRAME_OPERATORS", "TURNFRAME_OPERATOR_TOKEN", "RUST_LOG"]
    {
        command.env_remove(name);
    }
    command
}

fn ended(command: &mut Command) -> Output {
    command.output().expect("it runs")
}

#[track_caller]
fn assert_exit(output: &Output, code: i32) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{said}");
}

fn lines(output: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(output).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("an object per line")).collect()
}

/// A `serve` that says that it listens.
struct Serving {
    child: Child,
    stdout: BufReader<ChildStdout>,
    listening: Value,
}

impl Serving {
    fn start(ledger: &Path, more: &[&str]) -> Self {
        let mut child = turnframe()
            .args(["serve", "--json", "--listen", "127.0.0.1:0", "--ledger"])
            .arg(ledger)
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        let listening = serde_json::from_str(&line).expect("an object");
        Self { child, stdout, listening }
    }

    /// Sends a signal, and returns what was said last and the exit code.
    fn stop(mut self, signal: &str) -> (Vec<Value>, Option<i32>) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status().expect("it runs");
        assert!(sent.success());
        let mut rest = Vec::new();
        self.stdout.read_to_end(&mut rest).expect("the rest");
        (lines(&rest), self.child.wait().expect("an end").code())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It has ended already where the test went well.
        let _ = self.child.kill();
    }
}

#[test]
fn the_demo_goes_as_its_script_says() {
    let output = ended(turnframe().args(["demo", "--json"]));
    assert_exit(&output, 0);
    let lines = lines(&output.stdout);
    let (book, scenes) = lines.split_last().expect("lines");
    assert_eq!(book["airline_requests"], 2);
    assert_eq!(book["airline_rebookings"], 2);
    let committed: Vec<_> = scenes
        .iter()
        .flat_map(|scene| scene["entries"].as_array().expect("entries"))
        .map(|entry| entry["entry"].as_str().expect("an id"))
        .collect();
    for scene in scenes {
        for block in scene["blocks"].as_array().expect("blocks") {
            let cited = block["event_ids"].as_array().into_iter().flatten();
            for id in cited.map(|id| id.as_str().expect("an id")) {
                assert!(committed.contains(&id), "a receipt cites {id}, which was not committed");
            }
        }
    }
}

#[test]
fn the_demo_reads_well_too_and_leaves_a_ledger_behind_where_it_is_told_to() {
    let directory = tempfile::tempdir().expect("a directory");
    let ledger = directory.path().join("demo.db");
    for _ in 0..2 {
        let output = ended(turnframe().arg("demo").arg("--ledger").arg(&ledger));
        assert_exit(&output, 0);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(text.contains("[submitted]") && text.contains("[unknown]"), "{text}");
        assert!(text.ends_with("took 2 rebookings on.\n"), "{text}");
    }
    assert!(ledger.exists());
}

#[test]
fn serve_makes_a_token_for_a_run_and_stops_in_order_at_either_signal() {
    let directory = tempfile::tempdir().expect("a directory");
    for signal in ["-TERM", "-INT"] {
        let serving = Serving::start(&directory.path().join("t.db"), &[]);
        assert_eq!(serving.listening["event"], "listening");
        assert_eq!(serving.listening["airline_is_simulated"], true);
        assert_eq!(serving.listening["token"].as_str().map(str::len), Some(32));
        let (said, code) = serving.stop(signal);
        assert_eq!(code, Some(0));
        assert_eq!(said, [serde_json::json!({ "event": "stopped" })]);
    }
}

#[test]
fn secrets_that_were_given_are_not_printed() {
    let directory = tempfile::tempdir().expect("a directory");
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let more = ["--token", "acme/ada=a-secret-of-ada-at-acme", "--airline-secret", secret];
    let serving = Serving::start(&directory.path().join("t.db"), &more);
    let listening = serving.listening.to_string();
    assert!(!listening.contains("a-secret-of-ada") && !listening.contains("MfKQ9r8G"));
    assert_eq!(serving.stop("-TERM").1, Some(0));
}

#[test]
fn an_operator_asks_a_running_server_and_is_told_what_it_refuses() {
    const OPERATOR: &str = "a-secret-of-grace-who-operates";
    let directory = tempfile::tempdir().expect("a directory");
    let more = ["--operator", &format!("grace={OPERATOR}")];
    let serving = Serving::start(&directory.path().join("t.db"), &more);
    assert!(!serving.listening.to_string().contains(OPERATOR));
    let url = serving.listening["url"].as_str().expect("a URL").to_owned();
    let outbox = |token: &str, command: &[&str]| {
        let server = ["--server", &url, "--token", token];
        ended(turnframe().arg("outbox").args(command).args(server))
    };
    let listed = outbox(OPERATOR, &["list"]);
    assert_exit(&listed, 0);
    assert_eq!(listed.stdout, b"nothing waits for an operator\n");
    assert_eq!(outbox(OPERATOR, &["list", "--json"]).stdout, b"");
    let refused = |output: Output, code: &str| {
        assert_exit(&output, 6);
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(said.contains(code), "{said}");
    };
    let status = outbox(OPERATOR, &["status"]);
    assert_exit(&status, 0);
    assert_eq!(status.stdout, b"airline: nothing is open, nothing is parked\n");
    let status = lines(&outbox(OPERATOR, &["status", "--json"]).stdout);
    assert_eq!(
        (&status[0]["destination"], &status[0]["is_stalled"]),
        (&"airline".into(), &false.into())
    );
    refused(outbox("somebody-else-s-secret", &["status"]), "unauthenticated");
    refused(outbox("somebody-else-s-secret", &["list"]), "unauthenticated");
    refused(outbox(OPERATOR, &["list", "--account", "a b"]), "invalid_id");
    let about = ["01890000-0000-7000-8000-00000000dead", "--account", "acme", "--reason", "asked"];
    let decisions: [&[&str]; 5] = [
        &["accept", "--reference", "R"],
        &["reject", "--code", "full"],
        &["retry"],
        &["park"],
        &["nudge"],
    ];
    for decision in decisions {
        refused(outbox(OPERATOR, &[decision, &about].concat()), "not_found");
    }
    let nudged = outbox(OPERATOR, &["nudge", "--destination", "airline", "--reason", "back"]);
    assert_exit(&nudged, 0);
    assert_eq!(
        nudged.stdout,
        b"nudged: 0 are due now; 0 are seen to already, or follow one of these\n"
    );
    let nothing_named = outbox(OPERATOR, &["nudge", "--reason", "back"]);
    assert_exit(&nothing_named, 2);
    let whose = outbox(OPERATOR, &["nudge", about[0], "--reason", "back"]);
    assert_exit(&whose, 2);
    let listed = outbox(OPERATOR, &["list", "--open", "--destination", "airline"]);
    assert_eq!(listed.stdout, b"nothing is open\n");
    assert_eq!(serving.stop("-TERM").1, Some(0));
    assert_exit(&outbox(OPERATOR, &["list"]), 1);
}

#[test]
fn l8_a_backlog_past_its_limit_ends_with_a_code_of_its_own() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", server.local_addr().expect("an address"));
    let nothing = serde_json::json!({ "count": 0, "is_cut": false, "first": null });
    let first = serde_json::json!({ "account": "acme", "effect": "e-1" });
    let told = serde_json::json!({ "destinations": [{
        "destination": "airline", "parked": nothing, "parked_seconds": 0, "is_undecided": false,
        "open": { "count": 3, "is_cut": false, "first": first },
        "overdue_seconds": 777_600, "is_stalled": true,
    }] });
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = server.accept().expect("a request");
        let mut asked = BufReader::new(stream.try_clone().expect("a stream")).lines();
        while asked.next().is_some_and(|line| !line.expect("a line").is_empty()) {}
        let body = told.to_string();
        let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length:";
        write!(stream, "{head} {}\r\n\r\n{body}", body.len()).expect("answered");
    });
    let status = ["outbox", "status", "--token", "a-secret-of-grace", "--server", &url];
    let output = ended(turnframe().args(status));
    answering.join().expect("answered");
    assert_exit(&output, 7);
    let line = "airline: 3 open, overdue for 9 d 0 h (first e-1 of acme), nothing is parked\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), line);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("wait for too long: airline") && said.contains("Overdue: see"), "{said}");
}

#[test]
fn a_second_process_on_a_ledger_is_refused_and_told_what_to_do() {
    let directory = tempfile::tempdir().expect("a directory");
    let ledger = directory.path().join("t.db");
    let serving = Serving::start(&ledger, &[]);
    let second =
        ended(turnframe().args(["serve", "--listen", "127.0.0.1:0", "--ledger"]).arg(&ledger));
    assert_exit(&second, 3);
    let said = String::from_utf8(second.stderr).expect("UTF-8");
    assert!(said.contains("is open in another process"), "{said}");
    assert!(said.contains("name another ledger with --ledger"), "{said}");
    assert_eq!(serving.stop("-TERM").1, Some(0));
    assert_exit(&ended(turnframe().arg("demo").arg("--ledger").arg(&ledger)), 0);
}

#[test]
fn what_cannot_be_done_ends_with_the_documented_code() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let serve = ["serve", "--ledger", "memory:", "--listen"];
    assert_exit(&ended(turnframe().args(serve).arg(&address)), 4);
    let serve = ["serve", "--ledger", "memory:", "--listen", "127.0.0.1:0"];
    assert_exit(&ended(turnframe().args(serve).args(["--token", "no token"])), 2);
    assert_exit(&ended(turnframe().args(serve).args(["--token", "acme/ada=short"])), 1);
    assert_exit(&ended(turnframe().args(serve).args(["--airline", "ftp://airline"])), 1);
    let refused = ended(turnframe().args(serve).args(["--airline-secret", "whsec_tooshort"]));
    assert_exit(&refused, 1);
    let said = String::from_utf8(refused.stderr).expect("UTF-8");
    assert!(said.contains("24 to 64 bytes") && !said.contains("tooshort"), "{said}");
    assert_exit(&ended(turnframe().args(["demo", "--ledger", "redis:somewhere"])), 1);
    let help = ended(turnframe().args(["serve", "--help"]));
    let help = String::from_utf8(help.stdout).expect("UTF-8");
    for code in 0..=7 {
        assert!(help.contains(&format!("\n  {code}  ")), "{help}");
    }
}
